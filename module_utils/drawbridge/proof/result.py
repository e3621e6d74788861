# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The result of a proof as values: what a report shows, and what a later proof is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

PROVED, FAILED, SKIPPED, UNKNOWN = "proved", "failed", "skipped", "unknown"
"""Verdicts of a node. Skipped: others had it. Unknown: the proof ended before its measurements did."""
SCHEMA = 1
"""Version of the JSON; docs/proof.schema.json describes it."""


@dataclass(frozen=True)
class Judged:
    """A measure, with the limit that judged it."""

    check: str
    """Name of the check: a row of the table, or "fabric" for the search."""
    name: str
    where: str
    value: float
    unit: str
    limit: float | None
    """None: no limit can be derived, and `why` says so."""
    at_least: bool
    why: str
    """Derivation of the limit, one line."""
    passed: bool
    nodes: tuple[str, ...]
    rail: int | None = None


@dataclass(frozen=True)
class ProofFinding:
    """One fault, named and placed."""

    check: str
    kind: str
    """limit, missing, remark, or a kind of suspect: node, cable, swapped cables, leaf, leaf pair, path, uplinks, unit
    pair, undecided."""
    text: str
    """One sentence: where, value, limit, reason."""
    look: str
    """What to look at next: a command where there is one."""
    nodes: tuple[str, ...] = ()
    rails: tuple[int, ...] = ()
    leaves: tuple[str, ...] = ()
    warning: bool = False
    """A warning fails no node."""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeVerdict:
    """A node's verdict, with the reasons in sentences (failed, skipped, unknown)."""

    name: str
    node_class: str
    unit: str
    verdict: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class FabricSummary:
    """The search in numbers. `pairs` is the number of tests that all pairs of nodes would have needed."""

    tests: int = 0
    rounds: int = 0
    seconds: int = 0
    pairs: int = 0
    ports: int = 0
    ports_passed: int = 0
    leaf_pairs: int = 0
    leaf_pairs_passed: int = 0


@dataclass(frozen=True)
class Result:
    """A whole proof. Times are ISO 8601 in UTC."""

    release: str
    cluster: str
    started: str
    ended: str
    complete: bool
    """False: it was interrupted, and the next run goes on."""
    nodes: Sequence[NodeVerdict] = ()
    measures: Sequence[Judged] = ()
    findings: Sequence[ProofFinding] = ()
    leaves: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Leaf of each rail, by unit."""
    fabric: FabricSummary = FabricSummary()

    @property
    def passed(self) -> bool:
        """Whether it is complete, each node is proved, and each finding is a warning."""
        return (
            self.complete
            and bool(self.nodes)
            and all(it.verdict == PROVED for it in self.nodes)
            and all(it.warning for it in self.findings)
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"schema": SCHEMA, **asdict(self), "passed": self.passed}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """Read the data of to_json(). Raises ValueError for another schema, KeyError or TypeError for other keys."""
        if data.get("schema") != SCHEMA:
            raise ValueError(f"the result has the schema {data.get('schema')}, but this release reads {SCHEMA}")
        rest = {key: value for key, value in data.items() if key not in ("schema", "passed")}
        tuples = {
            "nodes": tuple(NodeVerdict(**{**it, "why": tuple(it["why"])}) for it in data["nodes"]),
            "measures": tuple(Judged(**{**it, "nodes": tuple(it["nodes"])}) for it in data["measures"]),
            "findings": tuple(_finding(it) for it in data["findings"]),
            "fabric": FabricSummary(**data["fabric"]),
        }
        return cls(**{**rest, **tuples})


def _finding(data: Mapping[str, Any]) -> ProofFinding:
    lists = {key: tuple(data[key]) for key in ("nodes", "rails", "leaves", "evidence")}
    return ProofFinding(**{**data, **lists})
