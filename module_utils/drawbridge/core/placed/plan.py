# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of what leaves a host: nothing may refer to a file that is gone, so programs are last."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from ..converge import Step
from .text import FILE, TREE, Item

UNITS = "/etc/systemd/system/"
UNIT = re.compile(re.escape(UNITS) + r"([^/]+\.(?:service|timer|mount|path|socket))")
PART = re.compile(r"\.d/")
"""Drop-ins, hooks and parts of health checks are in folders with such names."""
HOOKS = "/etc/drawbridge/slurm/"
"""What Slurm's prologs, epilogs and health checks run."""


@dataclass(frozen=True)
class LeftState:
    """Items that are on a host, and that no role places any more."""

    items: frozenset[Item] = frozenset()

    def lines(self) -> list[str]:
        """Their paths."""
        return sorted(item.path for item in self.items)


def plan(have: LeftState, want: LeftState) -> list[Step[LeftState]]:
    """Remove all of them, what refers to others first. Slurm's hooks stay while one runs."""
    return [
        Step(_reason(item), partial(_without, item=item), item, disturbs=item.path.startswith(HOOKS))
        for item in sorted(have.items - want.items, key=lambda item: (rank(item), item.path))
    ]


def rank(item: Item) -> int:
    """Parts of others, units, then files and programs."""
    if PART.search(item.path):
        return 0
    return 1 if unit(item) else 3 if item.kind == TREE else 2


def unit(item: Item) -> str:
    """The name of the unit that a file is; empty for other files."""
    found = UNIT.fullmatch(item.path) if item.kind == FILE else None
    return found[1] if found else ""


def _reason(item: Item) -> str:
    what = {FILE: item.path, TREE: f"directory {item.path}"}.get(item.kind, f"the block in {item.path}")
    return f"remove {what}"


def _without(state: LeftState, item: Item) -> LeftState:
    return LeftState(state.items - {item})
