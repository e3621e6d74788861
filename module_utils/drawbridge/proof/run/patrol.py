# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which idle nodes a patrol measures: those that were measured longest ago, a share of all in each hour."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .cluster import NodeInSlurm, why_not

LEAST = 2
"""Nodes of one patrol: a rail needs a partner."""


def chosen(
    names: Sequence[str], states: Mapping[str, NodeInSlurm], proved: Mapping[str, str], per_hour: int
) -> list[str]:
    """Nodes for this hour in the order of the intent; none if fewer than two are idle, or without a share.

    `proved` is the time of each node's last proof in ISO 8601; a node without one is first. `per_hour` is in percent.
    """
    if not per_hour:
        return []
    idle = [name for name in names if not why_not(states.get(name), idle_only=True)]
    count = max(LEAST, math.ceil(len(names) * per_hour / 100))
    some = set(sorted(idle, key=lambda name: proved.get(name, ""))[:count])
    return [name for name in names if name in some] if len(some) >= LEAST else []
