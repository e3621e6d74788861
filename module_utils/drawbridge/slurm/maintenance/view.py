# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Waves of nodes for maintenance: never more of a partition or of a unit at once than the intent allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...core import hostlist
from ...nodes.model import OFF_FABRIC, Nodes
from ..model import Slurm


@dataclass(frozen=True)
class Group:
    """A partition or a unit, and how many of its nodes may be out of service at once."""

    name: str
    nodes: tuple[str, ...]
    most: int


def maintenance(nodes: Nodes, slurm: Slurm, names: Sequence[str], wave: int = 0) -> dict[str, Any]:
    """Waves of nodes for maintenance.

    C(waves), lists of names; C(groups), limits as M(drawbridge.drawbridge.slurm_maintenance) takes them.
    """
    chosen = frozenset(names)
    found = [group for group in groups(slurm, nodes) if not chosen.isdisjoint(group.nodes)]
    return {
        "waves": waves(names, found, wave),
        "groups": [{"name": it.name, "nodes": hostlist.in_order(list(it.nodes)), "most": it.most} for it in found],
    }


def groups(slurm: Slurm, nodes: Nodes) -> Iterator[Group]:
    """All partitions, then all units with leaf switches. One node of each may always be out of service."""
    limits = slurm.maintenance
    for partition in slurm.partitions:
        members = tuple(hostlist.expand(partition.nodes))
        yield Group(f"partition {partition.name}", members, _most(members, limits.partition_percent))
    for unit, members in nodes.units.items():
        if unit != OFF_FABRIC:
            yield Group(f"unit {unit}", tuple(members), _most(members, limits.unit_percent))


def _most(members: Sequence[str], percent: int) -> int:
    return max(1, len(members) * percent // 100)


def waves(names: Sequence[str], found: Sequence[Group], wave: int) -> list[list[str]]:
    """Each name in the first wave that has room in all groups of the node; `wave` is a wave's size, 0 for any."""
    everything = Group("the wave", tuple(names), wave or len(names))
    of_node: dict[str, list[Group]] = {name: [] for name in names}
    for group in (*found, everything):
        for name in of_node.keys() & frozenset(group.nodes):
            of_node[name].append(group)
    counts: dict[tuple[str, int], int] = {}
    first: dict[str, int] = {}
    planned: list[list[str]] = []
    for name in names:
        place = max(first.get(group.name, 0) for group in of_node[name])
        while any(counts.get((group.name, place), 0) >= group.most for group in of_node[name]):
            place += 1
        planned += [[] for _unused in range(place + 1 - len(planned))]
        planned[place].append(name)
        for group in of_node[name]:
            counts[group.name, place] = counts.get((group.name, place), 0) + 1
            while counts.get((group.name, first.get(group.name, 0)), 0) >= group.most:
                first[group.name] = first.get(group.name, 0) + 1
    return planned
