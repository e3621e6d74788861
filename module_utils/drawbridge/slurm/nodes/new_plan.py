# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that join or retire, in slurmctld.

No job may start on a node that is not proved ready yet, nor on one that retires. Jobs there run to their end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ...core.converge import Step
from .ready_plan import JOINING, NOT_RESPONDING, REINSTALLING, RETIRING, NodeState

ABSENT = "absent"
"""State of a node that slurmctld does not have yet."""
DRAIN = frozenset({"DRAIN"})


@dataclass(frozen=True)
class NewNodes:
    """Nodes by name."""

    nodes: Mapping[str, NodeState]

    def lines(self) -> list[str]:
        """A line for each node, in Slurm's words."""
        return [line for node in self.nodes.values() for line in node.lines()]


def drained(names: Iterable[str]) -> NewNodes:
    """The wanted state: no job may use these nodes yet."""
    return NewNodes({name: NodeState(name, "UNKNOWN", DRAIN, reason=JOINING) for name in names})


def plan(have: NewNodes, want: NewNodes) -> list[Step[NewNodes]]:
    """Drain the nodes that do not answer. A node that answers is in service; an administrator's reason stays.

    A node that had retired or was installed again gets the reason of new nodes, which its proof may lift.
    """
    return [_drain(name) for name in want.nodes if _needs_drain(have.nodes[name])]


def missed_ping(node: NodeState) -> bool:
    """Whether a node in service missed a ping, as busy nodes do: Slurm pings again in a minute or two."""
    return "NOT_RESPONDING" in node.flags and not node.flags & DRAIN and node.state not in ("UNKNOWN", "DOWN")


def _needs_drain(node: NodeState) -> bool:
    if node.flags & DRAIN:
        return node.given_reason in (RETIRING, REINSTALLING)
    if node.state == "DOWN":
        return node.reason.startswith(NOT_RESPONDING)
    return node.state in (ABSENT, "UNKNOWN") or "NOT_RESPONDING" in node.flags


def _drain(name: str) -> Step[NewNodes]:
    reason = f"keep jobs off {name} until it is proved ready"
    return Step(reason, lambda state: _drained(state, name, JOINING), name)


def _drained(state: NewNodes, name: str, reason: str) -> NewNodes:
    node = state.nodes[name]
    return NewNodes({**state.nodes, name: replace(node, flags=node.flags | DRAIN, reason=reason)})


def retired(names: Iterable[str]) -> NewNodes:
    """The wanted state of nodes that leave: no job may start on them."""
    return NewNodes({name: NodeState(name, "UNKNOWN", DRAIN, reason=RETIRING) for name in names})


def plan_retirement(have: NewNodes, want: NewNodes) -> list[Step[NewNodes]]:
    """Drain the nodes that are not drained. A drain of an administrator keeps its reason."""
    return [_retire(name) for name in want.nodes if not safe(have.nodes[name])]


def safe(node: NodeState) -> bool:
    """Whether Slurm starts no job here, now and when the node answers again: a node that is only down would return."""
    return node.state == ABSENT or bool(node.flags & DRAIN)


def _retire(name: str) -> Step[NewNodes]:
    return Step(f"drain {name}, which retires", lambda state: _drained(state, name, RETIRING), name)
