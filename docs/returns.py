# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What all layers return, written into their pages: ansible-doc takes return values from no other file."""

from __future__ import annotations

import re
from pathlib import Path

MODULES = Path(__file__).resolve().parent.parent / "library"
TEXTS = {
    "steps": ("Changes made, or predicted in check mode, as sentences.", "always"),
    "pending": ("Changes that can't be made now, each with the reason.", "always"),
    "done": ("Steps that were done.", "failure"),
    "left": ("Steps that were not done.", "failure"),
}
"""Descriptions, and when the values are returned. A page keeps a description of its own."""
SHARED = {
    name: f"{name}:\n  description: {text}\n  returned: {when}\n  type: list\n  elements: str\n"
    for name, (text, when) in TEXTS.items()
}
RETURN = re.compile(r'(?<=^RETURN = r""").*?(?=^""")', re.DOTALL | re.MULTILINE)


def pages() -> dict[Path, str]:
    """The text of each module that is a layer and changes something."""
    texts = {path: path.read_text() for path in sorted(MODULES.glob("*.py"))}
    return {path: page(text) for path, text in texts.items() if "main_of(" in text and RETURN.search(text)}


def page(text: str) -> str:
    """A module's text with all that its layer returns. One whose steps are always empty changes nothing."""
    [own] = RETURN.findall(text)
    entries = {part.partition(":")[0]: part for part in re.split(r"(?m)^(?=\w)", own) if part.strip()}
    if "Always empty" in entries.get("steps", ""):
        return text
    first = {name: entries.pop(name, SHARED[name]) for name in ("steps", "pending")}
    entries |= {name: SHARED[name] for name in ("done", "left")}
    return RETURN.sub(lambda _: "\n" + "".join([*first.values(), *entries.values()]), text)
