# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings of nodes and open breakers, as lines for a person and as plain data. Pure."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import pages
from ..decide import Opened, Seen, waits_for
from ..finding import FABRIC, HEALS, NODE, REPAIR, USER, Finding, heaviest, of_reason
from ..model import Health
from .history import DAYS, REBOOTED, Entry, counted

OK, WARNING, CRITICAL, UNKNOWN = range(4)
"""Exit codes, as those of C(drawbridge status)."""
VERSION = 1
"""Of the JSON's shape."""
FAULTS = {NODE: "fault of the node", USER: "left by a job", FABRIC: "fault of the fabric"}


@dataclass(frozen=True)
class Shown:
    """One node with its findings."""

    node: Seen
    findings: tuple[Finding, ...]
    history: tuple[Entry, ...]
    """Of this node in the last days."""
    health: Health
    proof: bool
    """Whether its class asks for a passport."""
    prove: str
    """How a person proves it: a command."""

    @property
    def level(self) -> int:
        """Critical if a person must act."""
        if self.node.ours and heaviest(of_reason(self.node.reason)) == REPAIR:
            return CRITICAL
        return WARNING if self.findings or self.node.ours else OK

    @property
    def state(self) -> str:
        """Where the node is, in words."""
        if self.node.ours:
            return "findings keep it drained"
        if not self.findings:
            return "no finding"
        if self.node.unavailable:
            return f"it has findings, and its drain has another reason: {self.node.reason or 'none'}"
        return "it has findings and takes jobs"

    @property
    def tried(self) -> tuple[float, ...]:
        """Times of its reboots."""
        return tuple(it.time for it in self.history if it.what == REBOOTED)

    @property
    def next(self) -> str:
        """The next step."""
        if self.node.ours:
            person = f": {self.prove}" + ("" if self.proof else f"; or: drawbridge-health lift {self.node.name}")
            said = waits_for(self.node, self.health.reboot)
            return said + (person if heaviest(of_reason(self.node.reason)) == REPAIR else "")
        if not self.findings:
            return ""
        if self.node.unavailable:
            return "repair it before that drain ends; otherwise its findings drain it"
        if self.node.report.kept:
            return f"it stays in service, because {self.node.report.kept}; look at all findings, then close the breaker"
        return "the next look drains it, unless drawbridge_health.report_only names its checks"


def findings(node: Seen, others: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings of its drain, those that it reports, and those of others; each once."""
    found: dict[str, Finding] = {}
    for it in (*(of_reason(node.reason) if node.ours else ()), *node.report.findings, *others):
        found.setdefault(pages.subject(it.text), it)
    return tuple(found.values())


def level(rows: Sequence[Shown], opened: Mapping[str, Opened]) -> int:
    """The exit code: the worst of the nodes; an open breaker needs a person."""
    return max((*(row.level for row in rows), CRITICAL if opened else OK))


def lines(rows: Sequence[Shown], opened: Mapping[str, Opened]) -> list[str]:
    """Breakers, then nodes."""
    text = [_breaker(name, it) for name, it in opened.items()]
    for row in rows:
        state = "+".join([row.node.state, *sorted(row.node.flags)])
        text += [*([""] if text else []), f"{row.node.name} ({state}): {row.state}"]
        for it in row.findings:
            text += [f"  {it}", *(f"    {line}" for line in _about(it, row))]
        text += [f"  tried: rebooted {', '.join(map(moment, row.tried))}"] if row.tried else []
        text += [f"  next: {row.next}"] if row.next else []
    return text or ["no node has a finding"]


def _breaker(name: str, it: Opened) -> str:
    return f"breaker {name} is open since {moment(it.since)}: {it.why}; to close it: drawbridge-health close {name}"


def _about(finding: Finding, row: Shown) -> list[str]:
    since, times = counted(row.history, finding)
    often = "once" if times == 1 else f"{times} times"
    known = f"; found since {moment(since)}, {often} in {DAYS} days" if since else ""
    ends = f", ends with a {finding.ends}" if finding.ends != HEALS else ""
    return [f"{FAULTS[finding.fault]}{ends}{known}", pages.page(finding.text)]


def document(rows: Sequence[Shown], opened: Mapping[str, Opened]) -> dict[str, Any]:
    """Everything as plain data; times are seconds since the epoch."""
    return {
        "version": VERSION,
        "level": level(rows, opened),
        "breakers": {name: {"since": it.since, "why": it.why} for name, it in opened.items()},
        "nodes": [_plain(row) for row in rows],
    }


def _plain(row: Shown) -> dict[str, Any]:
    findings = [
        {**vars(it), "since": since, "times": times, "page": pages.page(it.text)}
        for it in row.findings
        for since, times in [counted(row.history, it)]
    ]
    return {
        "name": row.node.name,
        "level": row.level,
        "state": "+".join([row.node.state, *sorted(row.node.flags)]),
        "drained": row.node.ours,
        "kept": row.node.report.kept,
        "findings": findings,
        "rebooted": list(row.tried),
        "next": row.next,
    }


def by_findings(nodes: Iterable[Seen], others: Mapping[str, Sequence[Finding]]) -> list[Seen]:
    """Nodes that have findings, or that findings keep drained."""
    return [it for it in nodes if it.ours or (it.comment and it.report.findings) or others.get(it.name)]


def moment(seconds: float) -> str:
    """A time for people."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
