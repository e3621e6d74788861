# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A block of lines between two marks, in a file whose other lines are the site's."""

from __future__ import annotations

import re

BEGIN, END = "# BEGIN drawbridge", "# END drawbridge"
_BLOCK = re.compile(rf"^{BEGIN}\n(.*?)^{END}\n?", re.DOTALL | re.MULTILINE)


def block(text: str) -> str | None:
    """The lines between the marks; None if there is no block."""
    found = _BLOCK.search(text)
    return found[1] if found else None


def with_block(text: str, content: str) -> str:
    """The text with this block, at the place of the old one or at the end."""
    new = f"{BEGIN}\n{content}{END}\n"
    if _BLOCK.search(text):
        return _BLOCK.sub(lambda _: new, text, count=1)
    return f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{new}"


def without_block(text: str) -> str:
    """The text without the block."""
    return _BLOCK.sub("", text, count=1)
