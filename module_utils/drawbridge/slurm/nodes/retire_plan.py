# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that retire: Slurm starts no new job on them, and their jobs run to their end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...core.converge import Step
from .new_plan import ABSENT, DRAIN, NewNodes
from .ready_plan import RETIRING, NodeState


def retired(names: Iterable[str]) -> NewNodes:
    """The wanted state: no job may start on these nodes."""
    return NewNodes({name: NodeState(name, "UNKNOWN", DRAIN, reason=RETIRING) for name in names})


def retire(have: NewNodes, want: NewNodes) -> list[Step[NewNodes]]:
    """Drain the nodes that are not drained. A drain of an administrator keeps its reason."""
    return [_drain(name) for name in want.nodes if not safe(have.nodes[name])]


def safe(node: NodeState) -> bool:
    """Whether Slurm starts no job here, now and when the node answers again: a node that is only down would return."""
    return node.state == ABSENT or bool(node.flags & DRAIN)


def _drain(name: str) -> Step[NewNodes]:
    def becomes(state: NewNodes) -> NewNodes:
        node = state.nodes[name]
        return NewNodes({**state.nodes, name: replace(node, flags=node.flags | DRAIN, reason=RETIRING)})

    return Step(f"drain {name}, which retires", becomes, name)
