# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""CPU numbers in an order, as short lists. Nodes do not need this code."""

from __future__ import annotations

import re
from collections.abc import Sequence

ORDERED = r"[0-9]{1,5}(-[0-9]{1,5}(:[1-9][0-9]*/[1-9][0-9]*)?)?"
_PART = re.compile(r"([0-9]+)(?:-([0-9]+)(?::([0-9]+)/([0-9]+))?)?")


def ordered(text: str) -> list[int]:
    """CPU numbers in the order of the list. As the kernel reads it, 0-7:1/2 is the first of each two: 0, 2, 4, 6."""
    found: list[int] = []
    for first, last, used, group in (match.groups() for match in map(_PART.fullmatch, text.split(",")) if match):
        numbers = range(int(first), int(last or first) + 1)
        found += [cpu for at, cpu in enumerate(numbers) if at % int(group or 1) < int(used or 1)]
    return found


def in_order(cpus: Sequence[int]) -> str:
    """The shortest list that ordered() reads as these numbers."""
    parts, at = [], 0
    while at < len(cpus):
        step, end = (cpus[at + 1] - cpus[at] if at + 1 < len(cpus) else 0), at + 1
        while step > 0 and end < len(cpus) and cpus[end] - cpus[end - 1] == step:
            end += 1
        if step != 1 and end - at < 3:  # two numbers alone are shorter
            end = at + 1
        parts.append(f"{cpus[at]}-{cpus[end - 1]}{f':1/{step}' if step > 1 else ''}" if end - at > 1 else str(cpus[at]))
        at = end
    return ",".join(parts)
