# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What systems share in their state: nested objects as configuration, and what a switch has counted.

`counters` of a state has numbers port by port and priority by priority:

    {"Ethernet1": {"3": {"rx_pause": 7, "tx_pause": 1, "marked": 40, "dropped": 0, "storms": 1, "restored": 1,
                         "depth": 0, "peak": 8192}}}

No packet passes an emulated switch, so a test writes the numbers. Hosts write those of emulated traffic, which have the
same form (`passed`). A number that none of them writes is 0.
"""

from __future__ import annotations

from typing import Any

Tree = dict[str, Any]
Leaf = tuple[tuple[str, ...], Any]


def leaves(tree: Tree, path: tuple[str, ...] = ()) -> list[Leaf]:
    """Return values and empty objects with their paths."""
    found: list[Leaf] = []
    for key, value in tree.items():
        found += leaves(value, (*path, key)) if isinstance(value, dict) and value else [((*path, key), value)]
    return found


def changed(before: Tree, after: Tree) -> list[tuple[str, ...]]:
    """Return the paths whose value is new or another one."""
    old = dict(leaves(before))
    return [path for path, value in leaves(after) if old.get(path) != value]


NAMES = ("rx_pause", "tx_pause", "marked", "dropped", "storms", "restored", "depth", "peak")
PRIORITIES = range(8)
PASSED = "passed"


def count(state: dict[str, Any], port: str, priority: int | str, name: str) -> int:
    """Return one number."""
    if name not in NAMES:
        raise KeyError(name)
    every = (state.get(key, {}) for key in ("counters", PASSED))
    return sum(int(seen.get(port, {}).get(str(priority), {}).get(name, 0)) for seen in every)
