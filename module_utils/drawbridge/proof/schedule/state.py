# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Results so far: known good partners, proven ports and leaf pairs, and suspects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

from ..measure import Missing
from .site import CROSSING, INCAST, PAIR, PATH, SECONDS, Site, Test

Outcome = Union[bool, Missing]
"""A test passed or failed, or its measurement did not happen, which counts as a failure."""


@dataclass(frozen=True)
class Suspect:
    """A fault that the search named, or a group that it could not narrow ("undecided").

    A cable has a node and a rail, swapped cables have two rails. A leaf pair is slow in both directions, a path from
    its first leaf to its second. A unit pair is slow only with all rails together. Three cables of a leaf are a "leaf"
    if none of its ports passed; three leaf pairs in the same way are its "uplinks".
    """

    kind: str
    nodes: tuple[str, ...] = ()
    rails: tuple[int, ...] = ()
    leaves: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """Tests that decided, with their answers, as printed lines."""

    @property
    def key(self) -> tuple[object, ...]:
        """The suspect without its evidence."""
        return (self.kind, self.nodes, self.rails, self.leaves, self.units)


@dataclass(frozen=True)
class Coverage:
    """Ports and directed leaf pairs of the site, and those that were in at least one passing test."""

    ports: int
    ports_passed: int
    leaf_pairs: int
    leaf_pairs_passed: int
    nodes: tuple[str, ...] = ()
    """Nodes that were in no passing test of whole nodes, and that no suspect names."""


def sentence(test: Test, outcome: Outcome) -> str:
    """One line of evidence."""
    if isinstance(outcome, Missing):
        return f"{test}: missing ({outcome.why})"
    return f"{test}: {'passed' if outcome else 'failed'}"


SEVERAL = 3
"""Suspects at one leaf without a passing test, from which on the leaf is the suspect."""


class State:
    """Changes with each round. It holds nothing that a replay of the outcomes does not give again."""

    def __init__(self, site: Site, seed: int) -> None:
        self.site = site
        self.turn = seed
        """Turns the order of partners, so that a repetition meets others."""
        self.level = 0
        """The step that runs, from 1."""
        self.newest = 0
        """The last step in which a test of whole nodes passed."""
        self.trust: dict[str, int] = {}
        """The last step in which a test with this node passed."""
        self.aside: set[str] = set()
        """Nodes of suspects: no partner for others."""
        self.cut: set[str] = set()
        """Units with a suspected leaf or uplinks: their leaf pairs are not searched."""
        self.pairs: set[tuple[str, str]] = set()
        """Units (from, to) between which a ring passed."""
        self.slow: set[tuple[str, str]] = set()
        """Units (from, to) with a suspected leaf pair, in both orders."""
        self.ports: set[tuple[str, int]] = set()
        self.paths: set[tuple[str, str, int]] = set()
        self.suspects: list[Suspect] = []
        self.rounds = self.tests = self.runs = self.narrowing = self.seconds = 0
        self.stopped = False
        """The bound is reached: nothing is narrowed any more."""

    def good(self, nodes: Iterable[str]) -> list[str]:
        """Those that no suspect has set aside."""
        return [node for node in nodes if node not in self.aside]

    def name(self, suspect: Suspect) -> None:
        """Note a suspect once, and set its nodes aside. Many cables or leaf pairs of one leaf become that leaf."""
        if suspect.key in [it.key for it in self.suspects]:
            return
        self.suspects.append(suspect)
        self.aside.update(suspect.nodes)
        leaves = suspect.leaves or {leaf for node in suspect.nodes for leaf in self._only_leaf(node)}
        for leaf in leaves if suspect.kind in ("node", "cable", "leaf pair", "path") else ():
            self._fold(leaf, "uplinks" if suspect.kind in ("leaf pair", "path") else "leaf")

    def _only_leaf(self, node: str) -> set[str]:
        """The node's leaf, if all of its rails have the same one."""
        leaves = set(self.site.leaves[self.site.unit_of[node]])
        return leaves if len(leaves) == 1 else set()

    def _fold(self, leaf: str, kind: str) -> None:
        """Replace suspects of this leaf by the leaf, if there are several and nothing passed."""
        kinds = ("leaf pair", "path") if kind == "uplinks" else ("cable", "node")
        mine = [
            it
            for it in self.suspects
            if it.kind in kinds and (leaf in it.leaves or any(leaf in self._only_leaf(node) for node in it.nodes))
        ]
        units = [unit for unit, leaves in self.site.leaves.items() if leaf in leaves]
        if len(mine) < SEVERAL or any(self._passed_at(leaf, unit, kind) for unit in units):
            return
        evidence = tuple(line for it in mine for line in it.evidence)
        self.suspects = [it for it in self.suspects if it not in mine]
        self.suspects.append(Suspect(kind, leaves=(leaf,), evidence=evidence))
        self.cut.update(units)
        if kind == "leaf":
            self.aside.update(node for unit in units for node in self.site.units[unit])

    def _passed_at(self, leaf: str, unit: str, kind: str) -> bool:
        """Whether a port of this leaf, or a leaf pair with it, was in a passing test."""
        rails = [rail for rail, name in enumerate(self.site.leaves[unit]) if name == leaf]
        if kind == "uplinks":
            paths = ((first, second) for first, second, rail in self.paths if rail in rails)
            return any(unit in pair for pair in self.pairs) or any(unit in pair for pair in paths)
        nodes = self.site.units[unit]
        return any(node in self.trust or (node, rail) in self.ports for node in nodes for rail in rails)

    def settled(self, item: str | tuple[str, str]) -> bool:
        """Whether a suspect explains this node, or this pair of units, already."""
        return item in self.aside if isinstance(item, str) else not self.cut.isdisjoint(item)

    def record(self, tests: Sequence[Test], outcomes: Mapping[Test, Outcome]) -> None:
        """Count a round, and note what its passing tests prove."""
        self.rounds += 1
        self.tests += len(tests)
        self.runs += len({test.nodes for test in tests})
        self.seconds += max(SECONDS[test.kind] for test in tests)
        for test in tests:
            if outcomes[test] is True:
                self._passed(test)

    def _passed(self, test: Test) -> None:
        unit_of = self.site.unit_of
        if test.kind == CROSSING:
            return
        if test.kind == PAIR:
            self.ports.update(test.ports())
        elif test.kind == PATH:
            self.paths.add((unit_of[test.nodes[0]], unit_of[test.nodes[1]], test.rails[0]))
        elif test.kind == INCAST:
            self.ports.update((node, rail) for node in test.nodes[1:] for rail in test.rails)
            if test.rails == self.site.rails(*(unit_of[node] for node in test.nodes)):
                self.newest = self.level
                self.trust.update(dict.fromkeys(test.nodes[1:], self.level))
        else:
            self.newest = self.level
            self.trust.update(dict.fromkeys(test.nodes, self.level))
            units = [unit_of[node] for node in test.nodes]
            self.pairs.update(pair for pair in zip(units, [*units[1:], units[0]]) if pair[0] != pair[1])

    def coverage(self) -> Coverage:
        """What at least one passing test has met."""
        site, total, passed = self.site, 0, 0
        units = list(site.units)
        for first in units:
            for second in units:
                count = len(site.leaf_pairs(first, second)) if first != second else 0
                total += count
                if count and (first, second) in self.pairs:
                    passed += count
                elif count:
                    passed += sum((first, second, rail) in self.paths for rail in site.rails(first, second))
        ports = [(node, rail) for unit, nodes in site.units.items() for node in nodes for rail in site.rails(unit)]
        met = sum(port in self.ports or (port[0] in self.trust and port[0] not in self.aside) for port in ports)
        nodes = tuple(node for node in site.unit_of if node not in self.trust and node not in self.aside)
        return Coverage(len(ports), met, total, passed, nodes)
