# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What `scontrol show node NAME -o` prints: one line of Key=value, where a reason may have blanks."""

from __future__ import annotations

import re

from ..plans.node_ready import NodeState

_KEY = re.compile(r"(?:^| )([A-Z][A-Za-z]*)=")
_SOCKETS = re.compile(r"\(S:[0-9,-]+\)")


def fields(line: str) -> dict[str, str]:
    """The line's keys and values; where a reason contains something like a key, the first of that name counts."""
    pieces = _KEY.split(line.strip())
    found: dict[str, str] = {}
    for key, value in zip(pieces[1::2], pieces[2::2]):
        found.setdefault(key, value.strip())
    return found


def node(line: str) -> NodeState:
    """The node of one line. `gres` comes without the sockets that Slurm adds to it."""
    told = fields(line)
    state, *flags = told.get("State", "UNKNOWN").split("+")
    if state.endswith("*"):
        state, flags = state[:-1], [*flags, "NOT_RESPONDING"]
    gres = _SOCKETS.sub("", told.get("Gres", "")).replace("(null)", "")
    return NodeState(told.get("NodeName", ""), state, frozenset(flags), gres, told.get("Reason", ""))
