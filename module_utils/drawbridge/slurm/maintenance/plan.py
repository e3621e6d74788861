# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes in maintenance, in slurmctld: drained by it, waiting for a place, or out of service for another reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...core.converge import Step
from ..nodes.new_plan import ABSENT, DRAIN
from ..nodes.ready_plan import NodeState, maintained
from .view import Group

REASON_BYTES = 200
"""People read reasons in `sinfo -R`; a whole error message stays in the run's report."""


@dataclass(frozen=True)
class WaveState:
    """The nodes of a wave by name. `down` are nodes elsewhere that take no jobs."""

    nodes: Mapping[str, NodeState]
    down: frozenset[str] = field(default=frozenset(), compare=False)

    def lines(self) -> list[str]:
        """A line for each node of the wave, in Slurm's words."""
        return [line for node in self.nodes.values() for line in node.lines()]


def out_of_service(node: NodeState) -> bool:
    """Whether the node counts for the limits; one that is reserved for maintenance does not."""
    return node.unavailable and not node.reserved


def reason_of(maintenance: str, until: str) -> str:
    """The reason of the drain."""
    return f"drawbridge: maintenance {maintenance} until {until}"


def failure_of(maintenance: str, cause: str) -> str:
    """The reason of a node that its maintenance left unfit for jobs: one line."""
    return f"drawbridge: maintenance {maintenance} failed: {' '.join(cause.split())}"[:REASON_BYTES]


def wanted(names: Sequence[str], reason: str) -> WaveState:
    """These nodes drained with this reason."""
    return WaveState({name: NodeState(name, "UNKNOWN", DRAIN, reason=reason) for name in names})


def plan(have: WaveState, want: WaveState, maintenance: str, groups: Sequence[Group]) -> list[Step[WaveState]]:
    """Drain the nodes, as long as each of their groups has a place. Others wait, each with its cause."""
    members = [(group, frozenset(group.nodes)) for group in groups]
    down = have.down | {name for name, node in have.nodes.items() if out_of_service(node)}
    steps = []
    for name, node in want.nodes.items():
        if maintained(have.nodes[name], maintenance):
            continue
        why = _why_not(have.nodes[name], node.reason) or _full(name, members, down)
        down = down if why else down | {name}
        steps.append(_drain(name, node.reason, why))
    return steps


def _why_not(node: NodeState, reason: str) -> str:
    """Why a node must not be taken; empty for a node in service."""
    if node.state == ABSENT:
        return "slurmctld has no such node; onboard it first"
    if "DRAIN" in node.flags:
        take = f'scontrol update nodename={node.name} state=drain reason="{reason}"'
        return f"it is drained already ({node.reason or 'without a reason'}); if it may be taken all the same: {take}"
    return f"it is out of service ({node.reason or node.state}); repair it first" if out_of_service(node) else ""


def _full(name: str, members: Sequence[tuple[Group, frozenset[str]]], down: frozenset[str]) -> str:
    for group, nodes in members:
        if name in nodes and len(down & nodes) >= group.most:
            return f"{group.name} has {len(down & nodes)} nodes out of service, and at most {group.most} may be"
    return ""


def plan_failure(have: WaveState, want: WaveState) -> list[Step[WaveState]]:
    """Give nodes that failed a reason that says so."""
    nodes = [node for name, node in want.nodes.items() if not _tells(have.nodes[name], node.reason)]
    return [_drain(node.name, node.reason, "") for node in nodes]


def _tells(node: NodeState, reason: str) -> bool:
    return node.state == ABSENT or ("DRAIN" in node.flags and node.reason.startswith(reason))


def _drain(name: str, reason: str, why: str) -> Step[WaveState]:
    def becomes(state: WaveState) -> WaveState:
        node = state.nodes[name]
        after = replace(node, flags=node.flags | DRAIN, reason=reason)
        return replace(state, nodes={**state.nodes, name: after})

    return Step(f"drain {name} with the reason: {reason}", becomes, name, pending=why)
