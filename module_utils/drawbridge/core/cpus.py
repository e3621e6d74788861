# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""CPU numbers as the kernel writes them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

_FORM = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")


def unreadable(text: str) -> str:
    """Why a text is not a kernel CPU list; "" if it is one. Programs disagree about ranges that run backwards."""
    if not _FORM.fullmatch(text):
        return "it is no CPU list"
    for part in text.split(","):
        first, _sep, last = part.partition("-")
        if last and int(last) < int(first):
            return f"{part} runs backwards"
    return ""


def cpu_list(text: str) -> list[int]:
    """CPU numbers, ascending, of a kernel CPU list such as 0-3,64-67. Raises ValueError."""
    bounds = [[int(number) for number in part.split("-")] for part in text.split(",")]
    return sorted({cpu for part in bounds for cpu in range(part[0], part[-1] + 1)})


def cpu_ranges(cpus: Iterable[int]) -> str:
    """The list of these numbers, such as 0-3,64-67."""
    groups = itertools.groupby(enumerate(sorted(cpus)), key=lambda pair: pair[1] - pair[0])
    runs = [[cpu for _unused, cpu in pairs] for _unused, pairs in groups]
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
