# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A whole proof: it takes nodes, measures them, gives passports, drains nodes that failed, and lets all others go."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ...core import hostlist
from ..checks.check import FILES, Check
from ..checks.table import CHECKS
from ..passport import Passport, text
from ..result import FAILED, PROVED, UNKNOWN, Result
from .cluster import UNPROVED, Cluster, NodeInSlurm, why_not
from .engine import Engine, Store
from .fabric_verdict import FABRIC
from .progress import Progress
from .settings import Settings

FEWEST = 3
"""Nodes with which all tests of the fabric are possible: two senders and a receiver."""
LONGEST_REASON = 200
"""Characters of a drain reason that Slurm shows on one line."""


class Records(Store, Protocol):
    """What a proof keeps on the controller."""

    def load(self, settings: Settings) -> Progress | None:
        """The state of the last run."""
        raise NotImplementedError

    def keep(self, result: Result) -> Path:
        """Keep a result."""
        raise NotImplementedError


@dataclass
class Proof:
    """One proof. `sign` signs a passport's text, `public_key` proves that, `now` is the present time with its zone."""

    settings: Settings
    cluster: Cluster
    records: Records
    sign: Callable[[str], str]
    public_key: Callable[[], str]
    now: Callable[[], datetime]
    release: str
    say: Callable[[str], None]
    checks: Sequence[Check] = CHECKS

    def run(self, names: Sequence[str], patrol: bool = False) -> Result:
        """Prove these nodes. Raises DeviceError if Slurm does not let it; the next run goes on then."""
        if patrol:
            # users' jobs share the file systems with a patrol, and would be disturbed
            self.checks = [check for check in self.checks if check.page != FILES]
        self.clean()
        states = self.cluster.states(list(self.settings.placed))
        progress = self._progress(names, states, patrol)
        self.records.save(progress)
        try:
            if progress.names:
                self._take(progress, states)
                Engine(self.settings, self.cluster, self.records, progress, self.say, self.checks).run()
            else:
                progress.complete = True
            return self._end(progress)
        finally:
            self._give_back(progress)

    def clean(self) -> None:
        """End what a killed run left: its jobs, its reservation, and nodes whose drain it had ended."""
        self.cluster.clean()
        left = self.records.load(self.settings)
        if left is not None and left.resumed:
            self._give_back(left)

    def _progress(self, names: Sequence[str], states: Mapping[str, NodeInSlurm], patrol: bool) -> Progress:
        """That of a run which was interrupted, or a new one."""
        before = self.records.load(self.settings)
        if before is not None and before.goes_on(self.settings.digest, names, self.now()):
            self.say(f"going on with the proof of {before.started}")
            gone = {name: why for name in before.taken if (why := why_not(states.get(name), patrol))}
            if not gone:
                return before
            self.say(f"{hostlist.compress(list(gone))} can't be measured any more; the proof begins anew")
        skipped = {name: why for name in names if (why := why_not(states.get(name), patrol))}
        taken = [name for name in names if name not in skipped]
        partners = self._partners(taken, set(names), states)
        started = self.now().isoformat(timespec="seconds")
        return Progress(self.settings.digest, started, taken, skipped, partners)

    def _partners(self, taken: Sequence[str], asked: Container[str], states: Mapping[str, NodeInSlurm]) -> list[str]:
        """Idle nodes that a few nodes need to measure their rails, those of the same units first."""
        needing = [name for name in taken if name in self.settings.with_rails]
        units = {self.settings.placed[name].unit for name in needing}
        idle = [
            name
            for name in self.settings.placed
            if name in self.settings.with_rails and name not in asked and not why_not(states.get(name), idle_only=True)
        ]
        idle.sort(key=lambda name: self.settings.placed[name].unit not in units)
        partners = idle[: max(0, FEWEST - len(needing))] if needing else []
        if partners:
            self.say(f"{hostlist.compress(partners)}: partners for the rails of {hostlist.compress(needing)}")
        return partners

    def _take(self, progress: Progress, states: Mapping[str, NodeInSlurm]) -> None:
        """Reserve first, so that no job of others comes when a drain ends."""
        self.cluster.reserve(progress.taken)
        drained = [name for name in progress.names if states[name].own_drain]
        progress.resumed = {name: states[name].reason for name in drained}
        self.records.save(progress)
        self.cluster.resume(drained)

    def _end(self, progress: Progress) -> Result:
        result = progress.result(self.settings, self.release, self.now().isoformat(timespec="seconds"))
        self._passports(progress, result)
        self._drain(progress, result)
        self.records.keep(result)
        progress.ended = True
        self.records.save(progress)
        return result

    def _passports(self, progress: Progress, result: Result) -> None:
        """Sign what passed, and give it to its node. A node without its passport stays drained by its health check."""
        proved = {it.name for it in result.nodes if it.verdict == PROVED and self.settings.wants_passport(it.name)}
        texts = {
            name: text(Passport(name, result.ended, self.release, self._passed(name), progress.depends.get(name, {})))
            for name in sorted(proved)
        }
        engine = Engine(self.settings, self.cluster, self.records, progress, self.say, self.checks)
        key = self.public_key() if texts else ""
        for name in engine.deliver({name: (it, self.sign(it), key) for name, it in texts.items()}):
            proved.discard(name)
        if proved:
            self.say(f"{hostlist.compress(sorted(proved))} did not take the passport; prove them again")

    def _passed(self, name: str) -> tuple[str, ...]:
        """The checks that a proved node has passed."""
        node = self.settings.node(name)
        names = {check.name for check in self.checks if check.applies(node)}
        return tuple(sorted({*names, *([FABRIC] if node.rails else [])}))

    def _drain(self, progress: Progress, result: Result) -> None:
        """Nodes that failed get no jobs. Those whose drain ended for the proof and that did not pass get it back."""
        for it in result.nodes:
            if it.verdict == FAILED:
                # without the derivation of the limit, which the report has
                fault = it.why[0].partition(" (")[0]
                self.cluster.drain(it.name, f"{UNPROVED}: {fault}"[:LONGEST_REASON])
            elif it.verdict == UNKNOWN and it.name in progress.resumed:
                self.cluster.drain(it.name, progress.resumed[it.name])
        progress.resumed = {}

    def _give_back(self, progress: Progress) -> None:
        """Drain again the nodes that were drained before, if no verdict came, and end the reservation."""
        for name, reason in progress.resumed.items():
            self.cluster.drain(name, reason)
        progress.resumed = {}
        self.records.save(progress)
        self.cluster.release()
