# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The fabric proof: rounds of tests that find slow nodes, cables and leaf pairs by group testing."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..measure import Missing
from .narrow import Narrow, Task
from .partners import Free
from .site import COLLECTIVE, RAILS, Site, Test
from .state import Coverage, Outcome, State, Suspect
from .steps import IncastStep, NodeStep, PairStep, Step


@dataclass(frozen=True)
class Bound:
    """Tests and rounds of a site: what a site without faults needs, and what no proof exceeds."""

    clean_tests: int
    tests: int
    rounds: int

    def __str__(self) -> str:
        return f"{self.clean_tests} tests without a fault, at most {self.tests} tests in {self.rounds} rounds"


def steps(site: Site) -> list[Step]:
    """The steps in their order: units, rails within a leaf, leaf pairs, incasts."""
    found: list[Step] = [NodeStep(site, COLLECTIVE), NodeStep(site, RAILS), PairStep(site)]
    # two senders and a receiver
    return found + ([IncastStep(site, "")] if site.incast and len(site.unit_of) > 2 else [])


def bound(site: Site) -> Bound:
    """Computed before the start. Each fault may halve a group, and repeat each test of each rail twice."""
    state = State(site, 0)
    depth = math.ceil(math.log2(max(2, site.group, len(site.units))))
    rails = max((len(leaves) for leaves in site.leaves.values()), default=0)
    screens = [len(step.screens(state)) for step in steps(site)] if len(site.unit_of) > 1 else []
    narrowing = site.faults * (2 * depth + 6 + 6 * rails)
    most_rounds = len(screens) * (2 * depth + 10) + 2 * site.faults
    smallest = min((len(nodes) for nodes in site.units.values()), default=1)
    serial = math.ceil(screens[2] / max(1, smallest - site.faults)) if screens else 0
    return Bound(sum(screens), sum(screens) + narrowing, 2 + len(screens) + serial + min(most_rounds, narrowing))


def pairs_of(site: Site) -> tuple[int, int]:
    """Tests and rounds of a tournament of all pairs of nodes, for comparison."""
    nodes = len(site.unit_of)
    return nodes * (nodes - 1) // 2, nodes - 1 if nodes % 2 == 0 else nodes


class Search:
    """Ask for a round, run its tests, hand in their outcomes, until a round is empty.

    Equal outcomes give equal rounds: `seed` alone turns the order of partners. An interrupted proof goes on from
    `to_json`, which holds the outcomes of all rounds; a round without outcomes runs again.
    """

    def __init__(self, site: Site, seed: int = 0) -> None:
        self.site = site
        self.seed = seed
        self.bound = bound(site)
        self._state = State(site, seed)
        self._log: list[list[Outcome]] = []
        self._rounds = self._run()
        self._round: list[Test] = next(self._rounds, [])

    def next_round(self) -> list[Test]:
        """Tests that run at the same time and share no port; none at the end. The same ones until `take`."""
        return list(self._round)

    def take(self, results: Mapping[Test, Outcome]) -> None:
        """The outcomes of the round. A test without one counts as missing. Raises ValueError after the end."""
        if not self._round:
            raise ValueError("the search has ended: there is no round to take results for")
        outcomes = {test: results.get(test, Missing("fabric test", str(test), "no result")) for test in self._round}
        self._log.append(list(outcomes.values()))
        try:
            self._round = self._rounds.send(outcomes)
        except StopIteration:
            self._round = []

    def verdict(self) -> list[Suspect]:
        """Suspects so far, in the order in which they were found."""
        return list(self._state.suspects)

    def coverage(self) -> Coverage:
        """Ports and leaf pairs that were in a passing test so far."""
        return self._state.coverage()

    @property
    def tests(self) -> int:
        """Tests that have run."""
        return self._state.tests

    @property
    def runs(self) -> int:
        """Launches: tests of one round on the same nodes are one."""
        return self._state.runs

    @property
    def rounds(self) -> int:
        """Rounds that have run."""
        return self._state.rounds

    @property
    def seconds(self) -> int:
        """Estimated duration of the rounds that have run, in seconds."""
        return self._state.seconds

    @property
    def progress(self) -> float:
        """The share of the groups that had their first test; 1 at the end. It waits while a failed group is halved."""
        first = self._state.tests - self._state.narrowing
        return min(0.99, first / self.bound.clean_tests) if self._round else 1.0

    def to_json(self) -> dict[str, Any]:
        """The state as plain data."""
        rounds = [
            [it if isinstance(it, bool) else {"name": it.name, "where": it.where, "why": it.why} for it in outcomes]
            for outcomes in self._log
        ]
        return {"site": self.site.digest, "seed": self.seed, "rounds": rounds}

    @classmethod
    def from_json(cls, site: Site, data: Mapping[str, Any]) -> Search:
        """A search that goes on where this state was written. Raises ValueError if it is another site's."""
        if data["site"] != site.digest:
            raise ValueError("the saved proof is of other nodes or leaves; start a new one")
        search = cls(site, data["seed"])
        for outcomes in data["rounds"]:
            found = [it if isinstance(it, bool) else Missing(**it) for it in outcomes]
            if len(found) != len(search.next_round()):
                raise ValueError("the saved proof has rounds of another release; start a new one")
            search.take(dict(zip(search.next_round(), found)))
        return search

    def _run(self) -> Generator[list[Test], Mapping[Test, Outcome], None]:
        for level, step in enumerate(steps(self.site) if self.bound.clean_tests else (), 1):
            self._state.level = level
            narrow = Narrow(self.site, self._state, step)
            tasks = [narrow.start(chunk, want) for chunk, want in step.screens(self._state)]
            while tasks:
                chosen, waiting = self._choose(tasks, step.alike)
                tests = [test for _task, built in chosen for test in built]
                if tests:
                    outcomes = yield tests
                    self._state.record(tests, outcomes)
                    self._state.narrowing += sum(len(built) for task, built in chosen if not task.screening)
                    tasks = [task for task, built in chosen if _goes_on(task, [(it, outcomes[it]) for it in built])]
                else:
                    # no test can run: each task divides its group, or gives up
                    tasks, waiting = [task for task in waiting if _goes_on(task, None)], []
                tasks = [*tasks, *narrow.spawned, *waiting]
                narrow.spawned.clear()
                tasks = tasks or narrow.end()

    def _choose(self, tasks: Sequence[Task], alike: bool) -> tuple[list[tuple[Task, list[Test]]], list[Task]]:
        """Tasks whose tests run in this round, and those that wait for nodes or have no budget left."""
        state, free = self._state, Free(self._state)
        state.turn += 1
        budget = self.bound.tests - self.bound.clean_tests - state.narrowing
        full, over = False, state.rounds >= self.bound.rounds
        chosen: list[tuple[Task, list[Test]]] = []
        waiting: list[Task] = []
        for task in tasks:
            mark = free.mark()
            useless = over or (full if task.screening else state.stopped)
            built = None if useless else task.want(free)
            full = full or (alike and task.screening and built is None)
            if built and not task.screening:
                budget -= len(built)
            if budget < 0 or over:
                state.stopped = True
            if built is None or (budget < 0 and not task.screening):
                free.undo(mark)
                waiting.append(task)
            else:
                chosen.append((task, built))
        return chosen, waiting


def _goes_on(task: Task, answers: Any) -> bool:
    """Hand the answers to the coroutine; whether it wants further tests."""
    task.screening = False
    try:
        task.want = task.work.send(answers)
    except StopIteration:
        return False
    return True
