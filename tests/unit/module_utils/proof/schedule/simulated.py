# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A fabric whose tests fail where faults are planted, with measured bandwidths that have noise."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Missing
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.search import Search
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import Outcome

LIMIT = 0.85
"""Least share of the line rate."""


def fabric(nodes: int, per_unit: int = 32, rails: int = 8, shared: bool = False, **sizes: int) -> sites.Site:
    """Units of these sizes, with a leaf for each rail or one for all of them."""
    names = [f"n{number}" for number in range(nodes)]
    units = {f"u{first // per_unit}": names[first : first + per_unit] for first in range(0, nodes, per_unit)}
    leaves = {
        node: [f"{unit}" if shared else f"{unit}r{rail}" for rail in range(rails)]
        for unit, members in units.items()
        for node in members
    }
    return sites.site_of(units, leaves, **sizes)


@dataclass
class Faults:
    slow: set[str] = field(default_factory=set)
    cables: set[tuple[str, int]] = field(default_factory=set)
    dead: set[tuple[str, int]] = field(default_factory=set)
    lossy: set[tuple[str, int]] = field(default_factory=set)
    paths: set[tuple[str, str]] = field(default_factory=set)
    swapped: dict[str, tuple[int, int]] = field(default_factory=dict)
    noise: float = 0.0
    """Standard deviation of a measured share."""
    outliers: float = 0.0
    """Share of tests that are slow by chance."""


def drawn(seed: int) -> tuple[sites.Site, Faults, set[tuple[object, ...]]]:
    """A site with up to five faults at nodes and leaf pairs, and the names that they must get."""
    luck, faults, names = random.Random(seed), Faults(), set()
    sizes = luck.choice([(8, 32), (16, 8), (24, 8), (40, 4), (64, 16), (100, 32), (9, 3)])
    site = fabric(*sizes, luck.choice((1, 2, 4, 8)), luck.random() < 0.2)
    free = list(itertools.combinations(site.units, 2))
    for node in luck.sample(sorted(site.unit_of), luck.choice((1, 1, 2) if sizes[0] < 16 else (1, 2, 2, 3, 5))):
        leaves = site.leaves[site.unit_of[node]]
        rail, kind = luck.randrange(len(leaves)), luck.choice(("slow", "cables", "dead", "lossy", "swapped", "paths"))
        if kind == "swapped" and len(set(leaves)) > 1:
            faults.swapped[node] = (both := tuple(sorted(luck.sample(range(len(leaves)), 2))))[0], both[1]
            names.add(("swapped cables", node, *both))
        elif kind == "paths" and free:
            first, second = (site.leaves[unit][rail] for unit in free.pop(luck.randrange(len(free))))
            both_ways = luck.random() < 0.5
            faults.paths |= {(first, second), *([(second, first)] if both_ways else ())}
            names.add(("leaf pair" if both_ways else "path", *sorted((first, second))))
        elif kind in ("cables", "dead", "lossy"):
            getattr(faults, kind).add((node, rail))
            names.add(("cable", node, rail))
        else:
            faults.slow.add(node)
            names.add(("node", node))
    return site, faults, names


class Fabric:
    """Answers the tests of a site."""

    def __init__(self, site: sites.Site, faults: Faults, seed: int = 0) -> None:
        self.site = site
        self.faults = faults
        self.luck = random.Random(seed)
        ports = faults.cables | faults.dead | {(node, rail) for node, both in faults.swapped.items() for rail in both}
        self.touched = faults.slow | {node for node, _rail in ports | faults.lossy}
        self.ports = ports
        self.unit_pairs = {
            (first, second)
            for first in (site.units if faults.paths else ())
            for second in site.units
            if first != second and faults.paths & set(site.leaf_pairs(first, second))
        }

    def answer(self, test: sites.Test) -> Outcome:
        share = 0.6 if self._bad(test) else 0.96
        if self.faults.noise or self.faults.outliers:
            share *= self.luck.gauss(1, self.faults.noise) * (0.7 if self.luck.random() < self.faults.outliers else 1)
        if self.touched.intersection(test.nodes) and not self.faults.dead.isdisjoint(test.ports()):
            return Missing("rail bandwidth", str(test), "no result after 60 s")
        return share >= LIMIT

    def _bad(self, test: sites.Test) -> bool:
        for node in self.touched.intersection(test.nodes):
            if node in self.faults.slow and test.kind in (sites.COLLECTIVE, sites.RAILS):
                return True
            if test.kind == sites.INCAST and node != test.nodes[0] and self._has(self.faults.lossy, node, test.rails):
                return True
            if test.kind == sites.CROSSING:
                exchanged = set(test.rails) == set(self.faults.swapped.get(node, ()))
                if not exchanged and self.ports & {port for port in test.ports() if port[0] == node}:
                    return True
            elif self._has(self.ports, node, test.rails):
                return True
        return bool(self.unit_pairs) and self._slow_path(test)

    @staticmethod
    def _has(ports: set[tuple[str, int]], node: str, rails: Iterable[int]) -> bool:
        return any((node, rail) in ports for rail in rails)

    def _slow_path(self, test: sites.Test) -> bool:
        units = [self.site.unit_of[node] for node in test.nodes]
        if test.kind == sites.INCAST:
            steps = [(unit, units[0]) for unit in units[1:]]
        else:
            steps = list(zip(units, units[1:] if test.kind == sites.PATH else [*units[1:], units[0]]))
        hit = [pair for pair in steps if pair in self.unit_pairs]
        leaves = self.site.leaves
        return any((leaves[a][rail], leaves[b][rail]) in self.faults.paths for a, b in hit for rail in test.rails)


def proof(site: sites.Site, faults: Faults, seed: int = 0) -> Search:
    """The whole search on this fabric; each round uses a port once."""
    fabric, search = Fabric(site, faults, seed), Search(site, seed)
    while tests := search.next_round():
        search.take({test: fabric.answer(test) for test in tests})
    return search


def named(search: Search) -> set[tuple[object, ...]]:
    """Suspects as short tuples."""
    return {(it.kind, *it.nodes, *it.rails, *(it.leaves if not it.nodes else it.units)) for it in search.verdict()}
