# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A proof from its start to its end: checks of each node, the search of the fabric, checks of all nodes together.

After each job the state is saved, so that the next run goes on after a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...core import hostlist
from ...core.converge import DeviceError
from .. import limits
from ..checks.check import FILES, LOAD, SAMPLE, STATE, Check
from ..checks.collect import programs
from ..checks.judge import judge_all, odd_versions, outliers
from ..checks.table import CHECKS
from ..measure import Found, Measure, Missing
from ..node import ProofNode
from ..result import ProofFinding
from ..schedule.search import Search
from ..schedule.site import COLLECTIVE, Site, Test
from . import collective, traffic
from .cluster import Cluster
from .fabric_verdict import FABRIC, Round
from .progress import Progress
from .request import Answer, Request, of_tests
from .settings import Settings

START_S = 60.0
"""Seconds of a job beside its programs: launch on all nodes, and Slurm's prolog."""
WAIT_S = 60.0
COUNTS = ("packets", "%", "bytes")
"""Units of measures that are no rates: equal nodes need not have equal ones."""
LOST = "no answer"
TRIES = 3
"""Jobs in a row without one answer before the proof gives up."""


class Store(Protocol):
    """Where the state of a run is kept."""

    def save(self, progress: Progress) -> None:
        """Keep it, so that a kill at any time leaves the last one whole."""
        raise NotImplementedError


@dataclass
class Engine:
    """One proof of these nodes. `say` prints progress."""

    settings: Settings
    cluster: Cluster
    store: Store
    progress: Progress
    say: Callable[[str], None]
    checks: Sequence[Check] = CHECKS

    def run(self) -> None:
        """Measure all that is left. Raises DeviceError if Slurm does not run the jobs; the state is saved then."""
        names = self.progress.taken
        state = [check for check in self.checks if check.kind == STATE]
        load = [check for check in self.checks if check.kind == LOAD]
        self._check("state of nodes", state, names, first=True)
        builds = {name: self.settings.build(name) for name in self.progress.depends}
        self.progress.add(odd_versions(self.progress.depends, builds))
        # a slow file system must not keep a node out of the fabric's tests
        for check in [check for check in load if check.page != FILES]:
            self._check(check.name, [check], self._sound(names))
        self._search(self._sound(names))
        for check in [check for check in load if check.page == FILES]:
            some = self._sound(names)
            self._check(check.name, [check], self._sample(some) if check.when == SAMPLE else some)
        rates = [it for it in self.progress.measures.values() if it.unit not in COUNTS]
        self.progress.add(outliers(rates, self._classes()))
        self.progress.complete = True
        self.store.save(self.progress)

    def _sound(self, names: Sequence[str]) -> list[str]:
        """Nodes that no finding blames so far."""
        failed = self.progress.failed
        return [name for name in names if name not in failed]

    def _sample(self, names: Sequence[str]) -> list[str]:
        """One node of each class."""
        return list({self.settings.placed[name].node_class: name for name in reversed(names)}.values())

    def _classes(self) -> dict[str, str]:
        return {name: self.settings.placed[name].node_class for name in self.progress.taken}

    def _check(self, stage: str, rows: Sequence[Check], names: Sequence[str], first: bool = False) -> None:
        """These checks on all nodes at the same time."""
        wanted = [check.name for check in rows if any(check.applies(node) for node in self.settings.classes.values())]
        if stage in self.progress.stages or not names or not (wanted or first):
            return
        self.say(f"{stage}: {hostlist.compress(list(names))}")
        request = self._request(names, checks=tuple(wanted), depends=first)
        found = self._ask(request, names, START_S + self._seconds(rows))
        for name in names:
            self._judge_node(self.settings.node(name), rows, found.get(name))
        self.progress.stages.append(stage)
        self.store.save(self.progress)

    def _judge_node(self, node: ProofNode, rows: Sequence[Check], answer: Answer | None) -> None:
        if answer is None or answer.error:
            why = answer.error if answer else "its job on this node did not end with an answer"
            text = f"{node.name} gave no answer: {why}"
            look = f"scontrol show node {node.name}, and the journal of slurmd there"
            self.progress.add([ProofFinding(LOST, "missing", text, look, (node.name,))])
            return
        self.progress.depends[node.name] = dict(answer.depends) or self.progress.depends.get(node.name, {})
        for check in rows:
            if check.applies(node):
                nothing = [Missing(check.name, node.name, "the worker has no result")]
                some: Sequence[Found] = answer.found.get(check.name, nothing)
                measures, findings = judge_all(node, check, list(some))
                self.progress.note(measures)
                self.progress.add(findings)

    def _seconds(self, rows: Sequence[Check]) -> float:
        """What the slowest class may need for these checks."""
        return max(sum(it.seconds for it in programs(rows, node)) for node in self.settings.classes.values())

    def _search(self, names: Sequence[str]) -> None:
        """Rounds of tests until the search has named all suspects."""
        if FABRIC in self.progress.stages:
            return
        site = self.settings.site(names)
        if self.progress.search is None or self.progress.search.site.digest != site.digest:
            self.progress.search = Search(site)
        search = self.progress.search
        self.progress.add([*_not_judged(site, self.settings), *_oversubscribed(site, self.settings)])
        self.say(f"fabric: {search.bound}")
        while tests := search.next_round():
            self.say(f"round {search.rounds + 1}, {100 * search.progress:.0f} %: tests: {len(tests)}")
            one = self._round(site, tests)
            outcomes, measures = one.judged()
            self.progress.note(measures)
            self.progress.add(one.warnings(outcomes))
            search.take(outcomes)
            self.store.save(self.progress)
        self.progress.stages.append(FABRIC)
        self.store.save(self.progress)

    def _round(self, site: Site, tests: Sequence[Test]) -> Round:
        build = self.settings.build(tests[0].nodes[0])
        together = all(test.kind == COLLECTIVE for test in tests) and self._has_nccl(tests)
        found: dict[int, list[Found]] = {}
        if together:
            limit_s = START_S + self._longest(tests, ())
            found = {at: list(it) for at, it in self.cluster.collective(tests, build, limit_s).items()}
            return Round(self.settings, site, tests, found, collective=True)
        names = list(dict.fromkeys(name for test in tests for name in test.nodes))
        for phases in self._jobs(site, tests):
            request = self._request(names, tests=tuple(tests), phases=phases, wait_s=WAIT_S)
            answered = self._ask(request, names, START_S + self._longest(tests, phases))
            for at, some in of_tests(answered.values()).items():
                found.setdefault(at, []).extend(some)
        return Round(self.settings, site, tests, found, phases=tuple(traffic.TOOLS))

    @staticmethod
    def _jobs(site: Site, tests: Sequence[Test]) -> list[tuple[str, ...]]:
        """What each job measures. Over a spine, the bandwidth tests of others would lengthen a latency."""
        every = tuple(traffic.TOOLS)
        if all(not traffic.phases(test, traffic.LATENCIES) for test in tests):
            return [(traffic.BANDWIDTH,)]
        crossing = any(len({site.unit_of[name] for name in test.nodes}) > 1 for test in tests)
        return [(traffic.BANDWIDTH,), traffic.LATENCIES] if crossing else [every]

    def _has_nccl(self, tests: Sequence[Test]) -> bool:
        """Whether the nodes have equal whole GPUs, and nccl-tests."""
        classes = {self.settings.placed[name].node_class for test in tests for name in test.nodes}
        builds = [self.settings.classes[name] for name in classes]
        whole = len(builds) == 1 and builds[0].gpus > 0 and not builds[0].divided
        return whole and "nccl_tests" in builds[0].tools

    def _longest(self, tests: Sequence[Test], phases: Sequence[str]) -> float:
        """Seconds of the longest test: waiting, then each phase until its tools are ended."""
        build = self.settings.build(tests[0].nodes[0])
        each = [WAIT_S + traffic.LISTEN_S + traffic.limit_s(build, phase) for phase in phases]
        return sum(each) or collective.LIMIT_S

    def _request(self, names: Sequence[str], **what: Any) -> Request:
        of_class: dict[str, list[str]] = {}
        for name in names:
            of_class.setdefault(self.settings.placed[name].node_class, []).append(name)
        return Request(
            classes={name: self.settings.classes[name] for name in of_class},
            class_of={name: hostlist.compress(some) for name, some in of_class.items()},
            addresses={name: it for name in names if (it := self.settings.addresses.get(name))},
            **what,
        )

    def _ask(self, request: Request, names: Sequence[str], limit_s: float) -> Mapping[str, Answer]:
        """Answers of the nodes. A job without any says nothing about the fabric, and runs again.

        Raises DeviceError after some tries.
        """
        for _try in range(TRIES):
            self.cluster.reserve(self.progress.taken)
            if found := self.cluster.ask(request, names, limit_s):
                return found
            self.say("no node answered; the job runs again")
        raise DeviceError(f"no node of {hostlist.compress(list(names))} answered in {TRIES} jobs")

    def deliver(self, passports: Mapping[str, tuple[str, str, str]]) -> list[str]:
        """Give nodes their passports, and return those that have theirs."""
        if not passports:
            return []
        names = list(passports)
        found = self._ask(self._request(names, passports=passports), names, START_S)
        return [name for name in names if name in found and not found[name].error]


def _not_judged(site: Site, settings: Settings) -> list[ProofFinding]:
    """A warning if rates between leaves have no limit, because the speed of uplinks is not known."""
    leaves = sorted({leaf for some in site.leaves.values() for leaf in some})
    if not (unknown := [leaf for leaf in leaves if leaf not in settings.uplinks]) or len(leaves) < 2:
        return []
    text = f"rates between leaves are not judged: the intent has no uplinks of {hostlist.compress(unknown)}"
    look = "drawbridge_fabric.cabling.links, or drawbridge_proof.uplinks"
    return [ProofFinding(FABRIC, "remark", text, look, leaves=tuple(unknown), warning=True)]


def _oversubscribed(site: Site, settings: Settings) -> list[ProofFinding]:
    """Warnings about leaves whose nodes can send much more than their uplinks carry."""
    gbps: dict[str, float] = {}
    for unit, nodes in site.units.items():
        for rail, leaf in enumerate(site.leaves[unit]):
            gbps[leaf] = gbps.get(leaf, 0.0) + sum(settings.build(name).rails[rail].gbps for name in nodes)
    found = []
    for leaf, uplinks in settings.uplinks.items() if len(site.units) > 1 else ():
        ratio = limits.oversubscription(leaf, gbps.get(leaf, 0.0), uplinks)
        if isinstance(ratio, Measure) and (fault := limits.judge(ratio, limits.most_oversubscription())):
            found.append(ProofFinding(FABRIC, "limit", fault.fact, fault.look, leaves=(leaf,), warning=True))
    return found
