# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The Key=value lines of `scontrol show node NAME -o` and `slurmd -C`; a reason may contain blanks."""

from __future__ import annotations

import re

_KEY = re.compile(r"(?:^| )([A-Z][A-Za-z]*)=")


def fields(line: str) -> dict[str, str]:
    """The line's keys and values. A reason may contain text like a key, so the first of a name counts."""
    pieces = _KEY.split(line.strip())
    found: dict[str, str] = {}
    for key, value in zip(pieces[1::2], pieces[2::2]):
        found.setdefault(key, value.strip())
    return found


def state_flags(shown: dict[str, str]) -> tuple[str, frozenset[str]]:
    """The base state, such as IDLE, and its flags, such as DRAIN; a star is the flag NOT_RESPONDING."""
    state, *flags = shown.get("State", "UNKNOWN").split("+")
    if state.endswith("*"):
        state, flags = state[:-1], [*flags, "NOT_RESPONDING"]
    return state, frozenset(flags)
