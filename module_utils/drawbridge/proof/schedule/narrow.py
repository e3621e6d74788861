# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From a group that failed to the item that is at fault: coroutines that want tests and receive their answers."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Optional

from .partners import Free
from .rings import halves
from .site import CROSSING, INCAST, Site, Test
from .state import Outcome, State, Suspect, sentence
from .steps import NodeStep, Step, Want

Pairs = list[tuple[Test, Outcome]]
Answers = Optional[Pairs]
"""Tests with their outcomes; None if they can't run: partners are missing, or the bound is reached."""
Search = Generator[Want, Answers, Any]
ATTEMPTS = 3
"""Failures of a group, none of whose items fails alone, before the group itself is suspected."""


@dataclass
class Task:
    """A coroutine, and the tests that it wants next."""

    work: Search
    want: Want
    screening: bool = False


class Narrow:
    """The coroutines of one step. `spawned` are groups that need tests of their own from the next round on."""

    def __init__(self, site: Site, state: State, step: Step) -> None:
        self.site = site
        self.state = state
        self.step = step
        self.spawned: list[Task] = []
        self._late: list[tuple[Any, list[Suspect], Pairs]] = []
        self._ending = False
        self._located: set[tuple[Any, ...]] = set()

    def start(self, chunk: Sequence[Any], want: Want | None = None, failures: int = 0) -> Task:
        """A task that tests these items until each one is proven, suspected, or can't be tested."""
        work = self._group(list(chunk), want or self.step.together(chunk), failures, want is not None)
        return Task(work, next(work), screening=want is not None)

    def _spawn(self, chunk: Sequence[Any], failures: int = 0) -> None:
        """New tasks for the items that no suspect explains. Settled pairs of units divide the path of the others."""
        apart = not isinstance(self.step, NodeStep)
        piece: list[Any] = []
        for item in chunk:
            if not self.state.settled(item):
                piece.append(item)
            elif apart and piece:
                self.spawned.append(self.start(piece, failures=failures))
                piece = []
        if piece:
            self.spawned.append(self.start(piece, failures=failures))

    def _group(self, chunk: list[Any], want: Want, failures: int, screening: bool) -> Search:
        answers = yield want
        if answers is None:
            if len(chunk) > 1 and not self.state.stopped:
                for half in halves(chunk):
                    self._spawn(half, failures)
            elif failures:
                self._undecided(chunk, [])
        elif answers[0][1] is not True:
            # both directions of a ring are one group
            if screening and tuple(chunk) in self._located:
                return
            self._located.add(tuple(chunk))
            yield from self._locate(chunk, answers, failures + 1)

    def _locate(self, chunk: list[Any], failed: Pairs, failures: int) -> Search:
        """Halve a failed group. A half beside a failed half is tested on its own: a fault may hide another."""
        group = chunk
        if failures >= ATTEMPTS:
            self._undecided(group, failed)
            return
        direct = failed if len(chunk) == 1 else []
        while len(chunk) > 1 and not any(self.state.settled(item) for item in chunk):
            first, second = halves(chunk)
            # no partner from the failed group
            answers = yield self.step.together(first, chunk)
            if answers is None:
                if self.state.stopped:
                    self._undecided(chunk, failed)
                else:
                    self._spawn(first, failures)
                    self._spawn(second, failures)
                return
            if answers[0][1] is True:
                chunk, direct = second, []
            else:
                self._spawn(second)
                chunk = group = first
                direct, failures, failed = answers, 1, answers
        if any(self.state.settled(item) for item in chunk):
            # a suspect that was named meanwhile explains the failure
            self._spawn(chunk)
        elif not (yield from self._decide(chunk[0], list(direct))):
            self._spawn(group, failures)

    def _decide(self, item: Any, tests: Pairs) -> Search:
        """Whether an item is at fault: two of three tests, each with other partners."""
        whole = [ok is True for _test, ok in tests]
        at_fault = yield from self._direct(item, tests, whole, 1)
        if not at_fault or self.state.settled(item):
            return at_fault is not False
        bad: list[Any] = []
        for some in self.step.rounds_of_parts(item):
            found = yield from self._parts(item, some, tests)
            bad += found
        at_fault = bool(bad) or (yield from self._direct(item, tests, whole, 2))
        if not at_fault or self.state.settled(item):
            return at_fault is not False
        suspects = self.step.suspects(item, bad)
        if isinstance(self.step, NodeStep) and len(bad) > 1:
            swapped = yield from self._swapped(item, bad, tests)
            suspects = swapped or suspects
        self._name(item, suspects, tests)
        return True

    def _direct(self, item: Any, tests: Pairs, whole: list[bool], enough: int) -> Search:
        """Test an item as a whole. True if it failed `enough` times, False if it passed twice, None if undecided."""
        while whole.count(False) < enough and whole.count(True) < 2:
            # a partner of a failed test may be the cause itself: one that passed with another unit's nodes alone
            avoid = {node for test, ok in tests if ok is not True for node in test.nodes}
            answers = yield self.step.together([item], avoid)
            if answers is None:
                self._undecided([item], tests)
                return None
            tests += answers
            whole.append(answers[0][1] is True)
        return whole.count(True) < 2

    def _parts(self, item: Any, some: list[Any], tests: Pairs) -> Search:
        """Parts of an item that fail two of three tests; one test that passes first is enough to clear a part."""
        votes: dict[Any, list[bool]] = {part: [] for part in some}
        while some:
            answers = yield self.step.apart(item, some, {node for test, _ok in tests for node in test.nodes})
            if answers is None:
                return []
            tests += answers
            for part, (_test, ok) in zip(some, answers):
                votes[part].append(ok is True)
            some = [part for part, oks in votes.items() if oks in ([False], [False, True], [True, False])]
            # so many are the node's own fault, and need no second test
            if isinstance(self.step, NodeStep) and len(some) > max(2, len(votes) // 2):
                return some
        return [part for part, oks in votes.items() if oks.count(False) >= 2]

    def _swapped(self, node: str, rails: list[int], tests: Pairs) -> Search:
        """Two cables are exchanged if each rail passes with the other rail of a good node."""
        leaves = self.site.leaves[self.site.unit_of[node]]
        for first, second in combinations(rails, 2) if len(rails) <= 4 else ():
            if leaves[first] == leaves[second]:
                continue
            failed = {name for test, ok in tests if ok is not True for name in test.nodes}
            answers = yield self._crossing(node, (first, second), failed)
            tests += answers or []
            if answers and all(ok is True for _test, ok in answers):
                others = [rail for rail in rails if rail not in (first, second)]
                swapped = Suspect("swapped cables", (node,), (first, second), (leaves[first], leaves[second]))
                rest = self.step.suspects(node, others) if others else []
                return [swapped, *rest]
        return []

    def _crossing(self, node: str, rails: tuple[int, int], avoid: Collection[str]) -> Want:
        def build(free: Free) -> list[Test] | None:
            other = free.partners(self.site.unit_of[node], 1, avoid, [node]) if free.claim([node]) else None
            return None if other is None else [Test(CROSSING, (node, *other), ends) for ends in (rails, rails[::-1])]

        return build

    def _name(self, item: Any, suspects: list[Suspect], tests: Pairs) -> None:
        """Name suspects, if a known good partner was in one of the tests that failed."""
        failed = [test for test, ok in tests if ok is not True]
        if isinstance(self.step, NodeStep):
            mates = set(self.site.units[self.site.unit_of[item]]) - {item}
            alone = bool(self.state.good(mates)) and all(mates.isdisjoint(test.nodes) for test in failed)
            sure = any(all(self._known(node, test) for node in test.nodes if node != item) for test in failed)
            if not self._ending and (alone or not sure):
                self._late.append((item, suspects, tests))
                return
            if not sure:
                rails = tuple(rail for it in suspects for rail in it.rails)
                self._undecided(sorted({node for test in failed for node in test.nodes}), tests, rails)
                return
        else:
            self.state.slow.update((item, item[::-1]))
        for suspect in suspects:
            lines = [sentence(test, ok) for test, ok in tests if _concerns(test, suspect)]
            self.state.name(replace(suspect, evidence=tuple(lines)))

    def _known(self, node: str, test: Test) -> bool:
        """Whether this partner passed in this step; the receiver of an incast in any step."""
        receives = test.kind == INCAST and node == test.nodes[0]
        return self.state.trust.get(node, 0) >= (1 if receives else self.state.level)

    def end(self) -> list[Task]:
        """Tasks at the end of the step, for nodes that failed with doubtful partners only, or with other units' nodes.

        A partner or a leaf pair may have been the cause. First such nodes of a unit meet each other, if no mate has
        passed. Then they are tested with mates that passed.
        """
        if not self._ending:
            self._ending = True
            lonely = [item for item, *_rest in self._late if not self._mates(item)]
            units = {self.site.unit_of[item]: None for item in lonely}
            found = [self._meeting([it for it in lonely if self.site.unit_of[it] == unit]) for unit in units]
            if any(found):
                return [task for tasks in found for task in tasks]
        late, self._late = self._late, []
        for item, suspects, tests in late:
            if self._mates(item):
                self._spawn([item])
            elif not self.state.settled(item):
                self._name(item, suspects, tests)
        spawned, self.spawned = self.spawned, []
        return spawned

    def _mates(self, item: str) -> list[str]:
        nodes = self.state.good(self.site.units[self.site.unit_of[item]])
        return [node for node in nodes if node != item and self.state.trust.get(node) == self.state.level]

    def _meeting(self, nodes: list[str]) -> list[Task]:
        """Neighbours in a list of nodes, two by two; only a test that passes says something."""

        def meet(want: Want) -> Search:
            yield want

        pairs = list(zip(nodes, [*nodes[1:], nodes[0]]))[: len(nodes) if len(nodes) > 2 else len(nodes) - 1]
        works = [meet(self.step.together(pair)) for pair in pairs]
        return [Task(work, next(work)) for work in works]

    def _undecided(self, chunk: Sequence[Any], tests: Pairs, rails: tuple[int, ...] = ()) -> None:
        lines = tuple(sentence(test, ok) for test, ok in tests)
        if isinstance(self.step, NodeStep):
            self.state.name(Suspect("undecided", tuple(sorted(chunk)), rails, evidence=lines))
        else:
            units = dict.fromkeys(unit for pair in chunk for unit in pair)
            self.state.name(Suspect("undecided", units=tuple(units), evidence=lines))


def _concerns(test: Test, suspect: Suspect) -> bool:
    """Whether a test is evidence: tests of one other rail are none."""
    return len(test.rails) != 1 or not suspect.rails or test.rails[0] in suspect.rails
