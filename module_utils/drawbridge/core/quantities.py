# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers with their nouns and durations, as people write them."""

from __future__ import annotations

MINUTE, SHORT_S = 60, 1.0


def count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """As people write it: 48 s, 3 min 12 s, 1 h 2 min."""
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s" if seconds >= SHORT_S else f"{seconds:.1f} s"
    minutes, rest = divmod(whole, MINUTE)
    hours, minutes = divmod(minutes, MINUTE)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
