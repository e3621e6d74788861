# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The steps of a proof: which items each one proves, and the tests for some items or for one part of an item."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, Optional

from .partners import Free
from .rings import parts, path_of, rings, there_and_back
from .site import INCAST, MILD, PAIR, PATH, RAILS, Site, Test
from .state import State, Suspect

Want = Callable[[Free], Optional[list[Test]]]
"""Tests of one round on nodes that are free in it; None if they are not."""


class Step:
    """One step: its items are nodes or pairs of units, and a part of an item is what a cable or a leaf pair carries."""

    alike = False
    """Whether the first tests need the same nodes, so that none can run if an earlier one waits."""

    def screens(self, state: State) -> list[tuple[list[Any], Want]]:
        """Groups of items, each with its first test."""
        raise NotImplementedError

    def together(self, chunk: Sequence[Any], avoid: Collection[Any] = ()) -> Want:
        """One test of all these items, with known good partners if it needs some."""
        raise NotImplementedError

    def rounds_of_parts(self, item: Any) -> list[list[Any]]:
        """Parts of an item that one round can test together."""
        raise NotImplementedError

    def apart(self, item: Any, some: Sequence[Any], avoid: Collection[str]) -> Want:
        """A test for each of these parts alone."""
        raise NotImplementedError

    def suspects(self, item: Any, bad: Sequence[Any]) -> list[Suspect]:
        """The suspects if an item fails, and these of its parts."""
        raise NotImplementedError


class NodeStep(Step):
    """Proves nodes, with rings of a unit's nodes. Its items are node names, the parts of an item are rails."""

    def __init__(self, site: Site, kind: str) -> None:
        self.site = site
        self.kind = kind

    def screens(self, state: State) -> list[tuple[list[Any], Want]]:
        good = [state.good(nodes) for nodes in self.site.units.values()]
        single = [nodes[0] for nodes in good if len(nodes) == 1]
        # units of one node share groups
        whole = [*(nodes for nodes in good if len(nodes) > 1), single]
        found = [chunk for nodes in whole for chunk in self._divided(nodes)]
        return [(chunk, self.together(chunk)) for chunk in found]

    def _divided(self, nodes: list[str]) -> list[list[str]]:
        return parts(nodes, math.ceil(len(nodes) / self.site.group)) if nodes else []

    def together(self, chunk: Sequence[str], avoid: Collection[str] = ()) -> Want:
        def build(free: Free) -> list[Test] | None:
            if not free.claim(chunk):
                return None
            others = free.partners(self.site.unit_of[chunk[0]], max(0, 2 - len(chunk)), avoid, chunk)
            return None if others is None else [self._test(self.kind, [*chunk, *others])]

        return build

    def _test(self, kind: str, nodes: Sequence[str]) -> Test:
        return Test(kind, tuple(nodes), self.site.rails(*{self.site.unit_of[node] for node in nodes}))

    def rounds_of_parts(self, item: str) -> list[list[int]]:
        return [list(self.site.rails(self.site.unit_of[item]))]

    def apart(self, item: str, some: Sequence[int], avoid: Collection[str]) -> Want:
        def build(free: Free) -> list[Test] | None:
            others = free.partners(self.site.unit_of[item], 1, avoid, [item]) if free.claim([item]) else None
            return None if others is None else [Test(PAIR, (item, *others), (rail,)) for rail in some]

        return build

    def suspects(self, item: str, bad: Sequence[int]) -> list[Suspect]:
        """A few bad rails are cables. None, or more than half of several, are the node."""
        rails = len(self.site.leaves[self.site.unit_of[item]])
        if not bad or len(bad) * 2 > rails > 1:
            return [Suspect("node", (item,))]
        return [Suspect("cable", (item,), (rail,), (self.site.leaves[self.site.unit_of[item]][rail],)) for rail in bad]


class IncastStep(NodeStep):
    """Proves the lossless class: each node sends once into an incast, with good nodes beside it."""

    def _divided(self, nodes: list[str]) -> list[list[str]]:
        """Two groups or more, so that the receiver of one is a sender of another. The first one is mild."""
        full = max(2, math.ceil(len(nodes) / self.site.incast))
        if len(nodes) <= full * MILD:
            return parts(nodes, full)
        rest = nodes[MILD:]
        return [nodes[:MILD], *parts(rest, math.ceil(len(rest) / self.site.incast))]

    def together(self, chunk: Sequence[str], avoid: Collection[str] = ()) -> Want:
        """The nodes and perhaps a partner send to a known good receiver."""

        def build(free: Free) -> list[Test] | None:
            if not free.claim(chunk):
                return None
            others = free.partners(self.site.unit_of[chunk[0]], 1 + max(0, 2 - len(chunk)), avoid, chunk)
            return None if others is None else [self._test(INCAST, [others[0], *chunk, *others[1:]])]

        return build

    def apart(self, item: str, some: Sequence[int], avoid: Collection[str]) -> Want:
        def build(free: Free) -> list[Test] | None:
            others = free.partners(self.site.unit_of[item], 2, avoid, [item]) if free.claim([item]) else None
            if others is None:
                return None
            return [Test(INCAST, (others[0], item, others[1]), (rail,)) for rail in some]

        return build


class PairStep(Step):
    """Proves leaf pairs, rail by rail, with rings over units. Its items are pairs of units.

    The parts of an item are a direction and a rail. A round of rings loads all uplinks evenly. Each node sends to
    one other leaf on each rail, and no leaf pair carries two flows of a rail.
    """

    alike = True

    def __init__(self, site: Site) -> None:
        self.site = site

    def screens(self, state: State) -> list[tuple[list[Any], Want]]:
        """Rings over the units with equal numbers of rails, in both directions, and single pairs of other units."""
        groups: dict[int, list[str]] = {}
        for unit, nodes in self.site.units.items():
            if state.good(nodes) and unit not in state.cut:
                groups.setdefault(len(self.site.leaves[unit]), []).append(unit)
        found: list[tuple[list[Any], Want]] = []
        for units in groups.values():
            for ring in rings(units):
                pairs = list(zip(ring, [*ring[1:], ring[0]]))[: len(ring) if len(ring) > 2 else 1]
                found += [(pairs, self._ring(way)) for way in ([ring] if len(ring) < 3 else [ring, ring[::-1]])]
        lists = list(groups.values())
        across = [
            (first, second)
            for number, units in enumerate(lists)
            for others in lists[number + 1 :]
            for first in units
            for second in others
        ]
        return found + [([pair], self._ring(pair)) for pair in across]

    def _ring(self, units: Sequence[str], avoid: Collection[str] = ()) -> Want:
        # small units first: they run out of free nodes first
        order = sorted(range(len(units)), key=lambda index: len(self.site.units[units[index]]))

        def build(free: Free) -> list[Test] | None:
            nodes = [""] * len(units)
            for index in order:
                node = free.take(units[index], avoid)
                if node is None:
                    return None
                nodes[index] = node
            return [Test(RAILS, tuple(nodes), self.site.rails(*set(units)))]

        return build

    def together(self, chunk: Sequence[tuple[str, str]], avoid: Collection[str] = ()) -> Want:
        """One ring there and back over pairs that follow each other."""
        return self._either(lambda block: self._ring(there_and_back(path_of(chunk)), block), avoid)

    @staticmethod
    def _either(make: Callable[[Collection[str]], Want], avoid: Collection[str]) -> Want:
        """With other partners if there are any, else with the same ones."""

        def build(free: Free) -> list[Test] | None:
            mark = free.mark()
            built = make(avoid)(free)
            if built is None and avoid:
                free.undo(mark)
                built = make(())(free)
            return built

        return build

    def rounds_of_parts(self, item: tuple[str, str]) -> list[list[tuple[int, int]]]:
        """Both directions use the same ports, so each has its own round."""
        return [[(way, rail) for rail in self.site.rails(*item)] for way in (0, 1)]

    def apart(self, item: tuple[str, str], some: Sequence[tuple[int, int]], avoid: Collection[str]) -> Want:
        """A path for each of these rails, from the first unit to the second (direction 0) or back."""
        ends = item if some[0][0] == 0 else item[::-1]

        def make(block: Collection[str]) -> Want:
            def build(free: Free) -> list[Test] | None:
                sender, receiver = free.take(ends[0], block), free.take(ends[1], block)
                if sender is None or receiver is None:
                    return None
                return [Test(PATH, (sender, receiver), (rail,)) for _way, rail in some]

            return build

        return self._either(make, avoid)

    def suspects(self, item: tuple[str, str], bad: Sequence[tuple[int, int]]) -> list[Suspect]:
        """Each bad leaf pair: with both directions, or as a path if only one direction is slow."""
        first, second = (self.site.leaves[unit] for unit in item)
        slow = [(first[rail], second[rail])[:: -1 if way else 1] for way, rail in bad]
        if not slow:
            return [Suspect("unit pair", units=tuple(sorted(item)))]
        both = {tuple(sorted(ends)) for ends in slow if ends[::-1] in slow}
        one = [ends for ends in dict.fromkeys(slow) if ends[::-1] not in slow]
        found = [Suspect("leaf pair", leaves=ends) for ends in sorted(both)]
        return found + [Suspect("path", leaves=ends) for ends in one]
