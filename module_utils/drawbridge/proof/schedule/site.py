# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The fabric as the schedule sees it: units, the leaf of each rail, and one test of some ports."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

COLLECTIVE = "collective"
"""A ring over all rails and the NVLinks of its nodes, in the order of `nodes`. It passes at full bus bandwidth."""
RAILS = "rails"
"""A ring for each rail, all at the same time. It passes if each rail is at full bandwidth (NCCL_TESTS_SPLIT)."""
PAIR = "pair"
"""Two nodes on one rail, both directions at the same time."""
PATH = "path"
"""Two nodes on one rail, from the first node to the second."""
CROSSING = "crossing"
"""Two nodes, both directions: the first rail of `rails` at the first node, the second rail at the second."""
INCAST = "incast"
"""The first node receives from all others on each rail of `rails`."""
MILD = 4
"""Senders up to which ECN should slow an incast before pauses do."""
SECONDS: Mapping[str, int] = {COLLECTIVE: 40, RAILS: 40, PAIR: 15, PATH: 15, CROSSING: 15, INCAST: 20}
"""Duration of a test with its start, in seconds."""


@dataclass(frozen=True)
class Test:
    """One measurement with one answer. `nodes` is in the order of ranks, `rails` counts from 0."""

    kind: str
    nodes: tuple[str, ...]
    rails: tuple[int, ...]

    def ports(self) -> Iterator[tuple[str, int]]:
        """Node and rail of each port that carries the test."""
        if self.kind == CROSSING:
            return iter(list(zip(self.nodes, self.rails)))
        return ((node, rail) for node in self.nodes for rail in self.rails)

    def __str__(self) -> str:
        rails = ",".join(str(rail) for rail in self.rails)
        if self.kind == INCAST:
            return f"incast {','.join(self.nodes[1:])} -> {self.nodes[0]} rail {rails}"
        return f"{self.kind} {(' -> ' if self.kind == PATH else ',').join(self.nodes)} rail {rails}"


@dataclass(frozen=True)
class Site:
    """Nodes by unit, and each unit's leaf by rail. All nodes of a unit have the same leaves."""

    units: Mapping[str, tuple[str, ...]]
    leaves: Mapping[str, tuple[str, ...]]
    group: int = 32
    """Most nodes of a unit in one collective."""
    incast: int = 16
    """Most senders of an incast; 0 leaves incasts out."""
    most: int = 0
    """Faults that the bounds allow for (0: one for 64 nodes, at least 8). More of them leave groups undecided."""

    @property
    def faults(self) -> int:
        """Faults that the bounds allow for."""
        return self.most or max(8, len(self.unit_of) // 64)

    @cached_property
    def unit_of(self) -> dict[str, str]:
        """The unit of each node."""
        return {node: unit for unit, nodes in self.units.items() for node in nodes}

    def rails(self, *units: str) -> tuple[int, ...]:
        """Rails that all these units have."""
        return tuple(range(min(len(self.leaves[unit]) for unit in units)))

    def leaf_pairs(self, sender: str, receiver: str) -> list[tuple[str, str]]:
        """Leaf of the sender's and of the receiver's unit for each rail that both have; (A, A) is no pair."""
        return [pair for pair in zip(self.leaves[sender], self.leaves[receiver]) if pair[0] != pair[1]]

    @cached_property
    def digest(self) -> str:
        """A hash of all that the order of tests depends on."""
        sizes = [self.group, self.incast, self.most]
        text = json.dumps([list(self.units.items()), list(self.leaves.items()), sizes])
        return hashlib.sha256(text.encode()).hexdigest()


def site_of(units: Mapping[str, Sequence[str]], leaves: Mapping[str, Sequence[str]], **sizes: int) -> Site:
    """The site of these units and of each node's leaf by rail. Nodes without rails are left out.

    A unit whose nodes differ in their number of rails is divided. `sizes` are group, incast and most.
    """
    parts: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for unit, nodes in units.items():
        for node in nodes:
            if leaves.get(node):
                parts.setdefault((unit, tuple(leaves[node])), []).append(node)
    counts = [unit for unit, _leaves in parts]
    names = [f"{it[0]}/{len(it[1])}" if counts.count(it[0]) > 1 else it[0] for it in parts]
    if len(set(names)) != len(names):
        raise ValueError("nodes of one unit have different leaves; a unit is the nodes with the same leaves")
    return Site(
        units={name: tuple(nodes) for name, nodes in zip(names, parts.values())},
        leaves={name: it[1] for name, it in zip(names, parts)},
        **sizes,
    )


def uplink_flows(site: Site, tests: Sequence[Test]) -> dict[str, int]:
    """Flows that leave each leaf while these rings and paths run together, for limits and for oversubscription."""
    found = {leaf: 0 for leaves in site.leaves.values() for leaf in leaves}
    for test in tests:
        if test.kind in (INCAST, CROSSING):
            continue
        ends = test.nodes if test.kind == PATH else (*test.nodes, test.nodes[0])
        for sender, receiver in zip(ends, ends[1:]):
            ours, theirs = site.leaves[site.unit_of[sender]], site.leaves[site.unit_of[receiver]]
            for rail in test.rails:
                found[ours[rail]] += ours[rail] != theirs[rail]
    return found
