# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a proof: what has been measured so far. A run that was killed goes on from its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ..result import (
    FAILED,
    PROVED,
    SKIPPED,
    UNKNOWN,
    FabricSummary,
    Judged,
    NodeVerdict,
    ProofFinding,
    Result,
)
from ..schedule.search import Search, pairs_of
from .folded import folded
from .settings import Settings
from .suspects import finding

KEPT = ("digest", "started", "names", "skipped", "partners", "stages", "complete", "ended", "depends", "resumed")
"""Fields that are plain data already."""
NOT_COVERED = "no test of the fabric with it passed, or no other node was idle"
MOST_AGE = timedelta(hours=12)
"""A run that was interrupted longer ago begins anew."""


@dataclass
class Progress:
    """One proof. `names` are the nodes that it has taken, `skipped` others with the reason."""

    digest: str
    started: str
    names: list[str]
    skipped: dict[str, str]
    partners: list[str] = field(default_factory=list)
    """Idle nodes that are measured too, because too few nodes can't measure each other's rails."""
    stages: list[str] = field(default_factory=list)
    measures: dict[tuple[str, str, str], Judged] = field(default_factory=dict)
    """The worst of each check, name and place."""
    findings: list[ProofFinding] = field(default_factory=list)
    depends: dict[str, dict[str, str]] = field(default_factory=dict)
    search: Search | None = None
    complete: bool = False
    """Whether all is measured."""
    ended: bool = False
    """Whether passports and drains followed, too."""
    resumed: dict[str, str] = field(default_factory=dict)
    """Nodes whose own drain the proof has ended, with its reason: they get it back if no verdict comes."""

    @property
    def taken(self) -> list[str]:
        """All nodes that are measured."""
        return [*self.names, *self.partners]

    def note(self, measures: Sequence[Judged]) -> None:
        """Keep measures that are worse than those of the same place."""
        for it in measures:
            key = (it.check, it.name, it.where)
            before = self.measures.get(key)
            if before is None or (it.value < before.value if it.at_least else it.value > before.value):
                self.measures[key] = it

    def add(self, findings: Sequence[ProofFinding]) -> None:
        """Keep findings once."""
        for it in findings:
            if it not in self.findings:
                self.findings.append(it)

    @property
    def failed(self) -> Mapping[str, list[str]]:
        """Nodes that a finding blames, with its sentences; warnings blame none."""
        found: dict[str, list[str]] = {}
        for it in self.findings:
            for name in () if it.warning else it.nodes:
                found.setdefault(name, []).append(it.text)
        return found

    def suspects(self) -> list[ProofFinding]:
        """What the search named."""
        if self.search is None:
            return []
        judged = list(self.measures.values())
        return [finding(it, judged, self.search.site) for it in self.search.verdict()]

    def result(self, settings: Settings, release: str, ended: str) -> Result:
        """What a report shows."""
        findings = folded([*self.findings, *self.suspects()])
        blamed = Progress("", "", [], {}, findings=findings).failed
        of_leaves = {leaf for it in findings if it.leaves and not it.nodes for leaf in it.leaves if it.kind == "leaf"}
        site = self.search.site if self.search else None
        uncovered = self._uncovered(settings)
        verdicts = [
            *(self._verdict(name, settings, blamed, of_leaves, uncovered) for name in self.taken),
            *(self._named(name, settings, SKIPPED, (why,)) for name, why in self.skipped.items()),
        ]
        return Result(
            release=release,
            cluster=str(settings.raw["cluster"]),
            started=self.started,
            ended=ended,
            complete=self.complete,
            nodes=tuple(sorted(verdicts, key=lambda it: it.name)),
            measures=tuple(self.measures.values()),
            findings=tuple(findings),
            leaves={unit: list(leaves) for unit, leaves in site.leaves.items()} if site else {},
            fabric=self._summary(),
        )

    def _uncovered(self, settings: Settings) -> set[str]:
        """Nodes with rails that no passing test of whole nodes had. The only node of a site has no partner."""
        if self.search is None or len(settings.with_rails) < 2:
            return set()
        return {name for name in self.search.coverage().nodes if name in settings.with_rails}

    def _verdict(
        self,
        name: str,
        settings: Settings,
        blamed: Mapping[str, list[str]],
        leaves: set[str],
        uncovered: set[str],
    ) -> NodeVerdict:
        if name in blamed:
            return self._named(name, settings, FAILED, tuple(blamed[name]))
        if bad := sorted(leaves & set(settings.placed[name].leaves)):
            return self._named(name, settings, FAILED, (f"its leaf {bad[0]} failed",))
        if not self.complete:
            return self._named(name, settings, UNKNOWN, ("the proof was interrupted",))
        if name in uncovered:
            return self._named(name, settings, UNKNOWN, (NOT_COVERED,))
        return self._named(name, settings, PROVED, ())

    @staticmethod
    def _named(name: str, settings: Settings, verdict: str, why: tuple[str, ...]) -> NodeVerdict:
        it = settings.placed.get(name)
        return NodeVerdict(name, it.node_class if it else "", it.unit if it else "", verdict, why)

    def _summary(self) -> FabricSummary:
        if self.search is None:
            return FabricSummary()
        search, covered = self.search, self.search.coverage()
        return FabricSummary(
            tests=search.tests,
            rounds=search.rounds,
            seconds=search.seconds,
            pairs=pairs_of(search.site)[0],
            ports=covered.ports,
            ports_passed=covered.ports_passed,
            leaf_pairs=covered.leaf_pairs,
            leaf_pairs_passed=covered.leaf_pairs_passed,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        site = self.search.site if self.search else None
        return {
            **{key: getattr(self, key) for key in KEPT},
            "measures": [vars(it) for it in self.measures.values()],
            "findings": [asdict(it) for it in self.findings],
            "searched": list(site.unit_of) if site else [],
            "search": self.search.to_json() if self.search else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], settings: Settings) -> Progress:
        """Read the data of to_json(). Raises ValueError, KeyError or TypeError for that of another release or site."""
        own = {key: data[key] for key in KEPT}
        found = cls(**own)
        lists = ("nodes", "rails", "leaves", "evidence")
        found.add([ProofFinding(**{**it, **{key: tuple(it[key]) for key in lists}}) for it in data["findings"]])
        found.note([Judged(**{**it, "nodes": tuple(it["nodes"])}) for it in data["measures"]])
        if data["search"] is not None:
            found.search = Search.from_json(settings.site(set(data["searched"])), data["search"])
        return found

    def goes_on(self, digest: str, names: Sequence[str], now: datetime) -> bool:
        """Whether a run of these nodes goes on with this state."""
        age = now - datetime.fromisoformat(self.started)
        mine = {*self.names, *self.skipped}
        return not self.ended and self.digest == digest and mine == {*names} and age < MOST_AGE
