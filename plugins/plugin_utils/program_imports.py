# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a program of a role imports. It needs Python alone: tests on nodes' own Python use it too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

IMPORT = re.compile(r"^ *from (?P<base>[\w.]+) import (?P<names>\([^)]*\)|[^#\n]*)", re.MULTILINE)
"""Drawbridge's modules import in this form alone. It takes a fiftieth of what Python's parser takes."""
ROOT = "drawbridge"


def imported(program: str, source: Callable[[str], str | None]) -> dict[str, str]:
    """Texts of all modules of Drawbridge that a program needs, by their paths below module_utils/drawbridge.

    `source` returns the text at such a path, and None where there is none.
    """
    found: dict[str, str] = {}
    left = [*modules(program, "")]
    while left:
        path = f"{left.pop()}.py"
        if path not in found and (text := source(path)) is not None:
            found[path] = text
            left += modules(text, path)
    return dict(sorted(found.items()))


def modules(text: str, path: str) -> Iterator[str]:
    """Paths, without their ending, of what may be modules that the text at this path imports."""
    for match in IMPORT.finditer(text):
        base = match["base"]
        above = len(base) - len(base.lstrip("."))
        if above:
            folder = path.split("/")[:-above]
        elif base.split(".")[0] == ROOT:
            folder = []
        else:
            continue
        inner = [part for part in base.lstrip(".").split(".") if part and (above or part != ROOT)]
        yield "/".join([*folder, *inner])
        for name in re.findall(r"\w+(?: as \w+)?", match["names"]):
            yield "/".join([*folder, *inner, name.split(" ")[0]])
