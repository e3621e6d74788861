# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Words that all forms of a proof's report share: verdict, places, folded findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ...core import hostlist
from ...core.quantities import count, duration
from ..limits import number
from ..result import FAILED, PROVED, SKIPPED, UNKNOWN, Judged, NodeVerdict, ProofFinding, Result

PASSED, INCOMPLETE = "passed", "incomplete"
VERDICTS = (PROVED, FAILED, SKIPPED, UNKNOWN)
LONGEST = 80
"""A longer hostlist is cut; its number of nodes stands before it."""


@dataclass(frozen=True)
class Folded:
    """Findings that differ in their node alone. In `finding`, HOST stands for its name if there are several."""

    finding: ProofFinding
    nodes: tuple[str, ...]

    @property
    def place(self) -> str:
        """Where it is, such as `gpu07 rail 3` or `leaf1, leaf2`; empty if the finding does not say."""
        return place(replace(self.finding, nodes=self.nodes))

    @property
    def placed(self) -> bool:
        """Whether the text begins with the place itself."""
        names = self.nodes if len(self.nodes) == 1 else self.finding.leaves
        return any(self.finding.text.startswith(name) for name in names)


def outcome(result: Result) -> str:
    """passed; failed, if a node failed or a finding is more than a warning; otherwise incomplete."""
    if result.passed:
        return PASSED
    bad = any(it.verdict == FAILED for it in result.nodes) or any(not it.warning for it in result.findings)
    return FAILED if bad else INCOMPLETE


def verdict(result: Result) -> str:
    """The first line of a report."""
    numbers = {word: sum(it.verdict == word for it in result.nodes) for word in VERDICTS}
    parts = [f"{numbers[PROVED]:,} of {count(len(result.nodes), 'node')} proved"]
    parts += [f"{numbers[word]:,} {word}" for word in VERDICTS[1:] if numbers[word]]
    warnings = sum(it.warning for it in result.findings)
    if faults := len(result.findings) - warnings:
        parts.append(count(faults, "finding"))
    if warnings:
        parts.append(count(warnings, "warning"))
    if not result.complete:
        parts.append("the proof was interrupted, and the next run goes on")
    return f"Proof of {result.cluster}: {outcome(result)}. {'; '.join(parts)}. {duration(seconds(result))}."


def seconds(result: Result) -> float:
    """Duration of the proof; 0 if its times are no times."""
    try:
        return max(0.0, (_time(result.ended) - _time(result.started)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


def hosts(nodes: Iterable[str]) -> str:
    """Nodes as a hostlist, or the beginning of a long one with the number of nodes."""
    names = list(nodes)
    text = hostlist.in_order(names)
    return text if len(text) <= LONGEST else f"{count(len(names), 'node')}: {text[:LONGEST].rpartition(',')[0]},..."


def place(finding: ProofFinding) -> str:
    """Nodes, rails and leaves of a finding; leaves only without nodes, because a node's leaf is known."""
    rails = f"rail {', '.join(map(str, finding.rails))}" if finding.rails else ""
    if finding.nodes or not finding.leaves:
        return " ".join(filter(None, [hosts(finding.nodes), rails]))
    return (" -> " if finding.kind == "path" else ", ").join(finding.leaves)


def where(measure: Judged) -> str:
    """Where a measure was made; for many nodes as a hostlist."""
    if len(measure.nodes) <= 2:
        return measure.where
    return hosts(measure.nodes) + (f" rail {measure.rail}" if measure.rail is not None else "")


def value(measure: Judged) -> str:
    """The measured value with its unit; it never looks equal to the limit that it misses."""
    digits = 1
    while measure.limit is not None and not measure.passed and digits < 6:
        if number(measure.value, digits) != number(measure.limit, digits):
            break
        digits += 1
    return f"{number(measure.value, digits)} {measure.unit}"


def bound(limit: float | None, at_least: bool, unit: str) -> str:
    """The limit as `at least 380.4 Gb/s`."""
    return "no limit" if limit is None else f"at {'least' if at_least else 'most'} {number(limit)} {unit}"


def folded(findings: Sequence[ProofFinding]) -> list[Folded]:
    """Findings in their order, faults before warnings; those that differ in their node alone are one."""
    groups: dict[ProofFinding, list[ProofFinding]] = {}
    for it in sorted(findings, key=lambda one: one.warning):
        groups.setdefault(_nameless(it), []).append(it)
    found = []
    for nameless, group in groups.items():
        one = group[0] if len(group) == 1 else replace(nameless, evidence=_evidence(group))
        found.append(Folded(one, tuple(dict.fromkeys(node for it in group for node in it.nodes))))
    return found


def _evidence(group: Sequence[ProofFinding]) -> tuple[str, ...]:
    return tuple(line for it in group for line in it.evidence)


def _nameless(finding: ProofFinding) -> ProofFinding:
    if len(finding.nodes) != 1:
        return finding
    name = re.compile(rf"(?<![\w.-]){re.escape(finding.nodes[0])}(?![\w-])")
    texts = {key: name.sub("HOST", getattr(finding, key)) for key in ("text", "look")}
    return replace(finding, nodes=(), evidence=(), **texts)


def by_reason(nodes: Iterable[NodeVerdict], *verdicts: str) -> list[tuple[str, str, list[str]]]:
    """Verdict, reason and names of the nodes with these verdicts."""
    groups: dict[tuple[str, str], list[str]] = {}
    for it in nodes:
        if it.verdict in verdicts:
            groups.setdefault((it.verdict, "; ".join(it.why).replace(it.name, "HOST")), []).append(it.name)
    return [
        (word, why.replace("HOST", names[0]) if len(names) == 1 else why, names)
        for (word, why), names in groups.items()
    ]
