# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Values of GPFS attributes. mmlsconfig prints them as typed, such as 16G; mmdiag in plain numbers."""

from __future__ import annotations

import re

SIZE = re.compile(r"([0-9]+)([kmgt])b?")
SHIFTS = {"k": 10, "m": 20, "g": 30, "t": 40}
WORDS = {
    **dict.fromkeys(("yes", "true", "enable", "enabled", "on"), "1"),
    **dict.fromkeys(("no", "false", "disable", "disabled", "off"), "0"),
}


def canonical(value: str) -> str:
    """The value in one spelling: sizes in bytes, 1 or 0 for words of consent, single blanks."""
    text = " ".join(value.split()).lower()
    size = SIZE.fullmatch(text)
    return str(int(size[1]) << SHIFTS[size[2]]) if size else WORDS.get(text, text)
