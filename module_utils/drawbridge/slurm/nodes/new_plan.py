# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that Slurm knows before they are built: no job may land there until they have proved themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ...core.converge import Step
from .ready_plan import JOINING, SLURMS_OWN, NodeState

ABSENT = "absent"
"""State of a node that slurmctld does not know, or not yet."""
DRAIN = frozenset({"DRAIN"})


@dataclass(frozen=True)
class NewNodes:
    """Nodes by name."""

    nodes: Mapping[str, NodeState]

    def lines(self) -> list[str]:
        """A line for each node, in Slurm's words."""
        return [line for node in self.nodes.values() for line in node.lines()]


def kept_off(names: Iterable[str]) -> NewNodes:
    """Nodes that no job may use yet."""
    return NewNodes({name: NodeState(name, "UNKNOWN", DRAIN, reason=JOINING) for name in names})


def plan(have: NewNodes, want: NewNodes) -> list[Step[NewNodes]]:
    """Drain who is not there. A node that answers is in service, and a reason that somebody gave stays."""
    return [_drain(name) for name in want.nodes if _away(have.nodes[name])]


def in_doubt(node: NodeState) -> bool:
    """Whether a node in service has missed an answer, which a busy one may: Slurm asks again in a minute or two."""
    return "NOT_RESPONDING" in node.flags and not node.flags & DRAIN and node.state not in ("UNKNOWN", "DOWN")


def _away(node: NodeState) -> bool:
    if node.flags & DRAIN:
        return False
    if node.state == "DOWN":
        return node.reason.startswith(SLURMS_OWN)
    return node.state in (ABSENT, "UNKNOWN") or "NOT_RESPONDING" in node.flags


def _drain(name: str) -> Step[NewNodes]:
    def becomes(state: NewNodes) -> NewNodes:
        drained = replace(state.nodes[name], flags=state.nodes[name].flags | DRAIN, reason=JOINING)
        return NewNodes({**state.nodes, name: drained})

    return Step(f"keep jobs off {name} until it has proved itself", becomes, name)
