# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings of a node's health in words: whose fault, since when, how often, reboots, next step. Pure."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ..gate.slurm import APPENDED, LOST
from . import health_finding as health
from .health_finding import FABRIC, HEALS, MARK, NODE, REASON, REBOOT, REPAIR, USER, Report
from .health_pages import page, subject
from .model import CRITICAL, WARNING, Event, Finding, SlurmNode

DAYS = 30
"""How far back the history is shown."""
MOST = 10
"""Events that are shown, the latest."""
PROVE = "ansible-playbook playbooks/prove.yml -e 'prove_nodes={name}'"
PASSPORT = "60-passport: "
CORDON = "cordon: "
UNCORDON = "when the work on it is done: kubectl uncordon {name}; then the drain ends by itself"
FAULTS = {NODE: "fault of the node", USER: "left by a job", FABRIC: "fault of the fabric"}
ENDINGS = {
    HEALS: "its drain ends when a health check finds nothing",
    REBOOT: "its drain ends when a health check finds nothing after a reboot",
    REPAIR: "its drain ends by a proof or by a person",
}
LEVELS = {
    HEALS: (CRITICAL, "unhealthy"),
    REBOOT: (CRITICAL, "needs a reboot"),
    REPAIR: (CRITICAL, "needs a repair"),
}
LOOK = {
    USER: "free the disk or the memory; when a health check finds nothing, the drain ends by itself",
    FABRIC: "look at both ends of the cable; when a health check finds nothing, the drain ends by itself",
    NODE: "repair it; when a health check finds nothing, the drain ends by itself",
}
STEPS = {
    REBOOT: "where drawbridge_health.reboot is allowed, Slurm reboots it once when its jobs have ended; else reboot it",
    REPAIR: f"repair it, then prove it: {PROVE}; or, on Slurm's controller: drawbridge-health lift {{name}}",
}
UNPROVED = f"prove it; a node that passes takes jobs again: {PROVE}"
CLOSE = "look at all findings, on Slurm's controller: drawbridge-health show; then: drawbridge-health close{name}"
WAIT = (
    "wait a minute; then, on Slurm's controller: systemctl status drawbridge-health.timer; "
    "a check in drawbridge_health.report_only drains no node"
)
ADDED = ("reboot issued", "reboot complete", "reboot timed out", "ResumeTimeout reached")
"""Texts that slurmctld appends to a reason, beside those of a lost node."""
_OPEN = re.compile(r"breaker (.+) is open")


def drained(name: str, reason: str) -> Finding:
    """A drain that findings made."""
    found = _of(reason)
    if found and all(it.text.startswith(PASSPORT) for it in found):
        needs = "; ".join(it.text[len(PASSPORT) :] for it in found)
        return Finding(WARNING, "unproved", f"its class needs a valid passport: {needs}", UNPROVED.format(name=name))
    if found and all(it.text.startswith(CORDON) for it in found):
        who = "; ".join(it.text[len(CORDON) :] for it in found)
        return Finding(WARNING, "cordoned", f"a cordon drained it: {who}", UNCORDON.format(name=name))
    ends, faults = health.heaviest(found), {it.fault for it in found}
    level, word = (WARNING, "unhealthy") if (ends, faults) == (HEALS, {USER}) else LEVELS[ends]
    look = LOOK[faults.pop()] if len(faults) == 1 else LOOK[NODE]
    return Finding(level, word, f"its health check found: {_listed(found)}", STEPS.get(ends, look).format(name=name))


def _of(reason: str) -> tuple[health.Finding, ...]:
    """The findings of a drain, without the texts that slurmctld appends."""
    first, separator, last = reason.rpartition(APPENDED)
    return _of(first) if separator and last in (*LOST, *ADDED) else health.of_reason(reason)


def reported(slurm: SlurmNode) -> Iterator[Finding]:
    """Findings that the node reports and that do not drain it."""
    report = Report.parse(slurm.comment)
    said = f"its health check finds: {_listed(report.findings)}"
    if not report.findings or (slurm.drained and slurm.reason.startswith(REASON)):
        return
    if slurm.drained:
        step = "repair this before the node takes jobs again; otherwise this drains it"
        yield Finding(WARNING, "reported", f"{said}; its drain has another reason", step)
    elif report.kept:
        close = CLOSE.format(name=f" {breaker}" if (breaker := _breaker(report)) else "")
        yield Finding(WARNING, "kept", f"it stays in service, because {report.kept}; {said}", close)
    else:
        yield Finding(WARNING, "reported", f"{said}; nothing has drained it yet", WAIT)


def _breaker(report: Report) -> str:
    """The open breaker's name."""
    found = _OPEN.fullmatch(report.kept)
    return found[1] if found else ""


def breakers(nodes: Iterable[SlurmNode]) -> list[str]:
    """A sentence about each open breaker, by the answers that the controller has left in nodes' records."""
    reports = (Report.parse(it.comment) for it in nodes if MARK in it.comment)
    opened = sorted({name for it in reports if (name := _breaker(it))})
    return [f"breaker {it} is open: findings drain no node of it; {CLOSE.format(name=f' {it}')}" for it in opened]


def _listed(found: Iterable[health.Finding]) -> str:
    """Their texts; what most findings are, a fault of the node, is not said."""
    return "; ".join(it.text if it.fault == NODE else f"{it.text} ({FAULTS[it.fault]})" for it in found)


def events(lines: Iterable[str], node: str, now: float) -> tuple[Event, ...]:
    """The node's part of the history, the oldest first. Lines that can't be read are left out."""
    return tuple(sorted(_events(lines, node, now - DAYS * 86400), key=lambda it: it.time))


def _events(lines: Iterable[str], node: str, since: float) -> Iterator[Event]:
    for line in lines:
        # most lines are about other nodes, and JSON is slow
        if f'"{node}"' in line:
            try:
                read = json.loads(line)
                event = Event(float(read["time"]), str(read["what"]), str(read.get("text", "")))
            except (ValueError, TypeError, KeyError, AttributeError):
                continue
            if read.get("node") == node and event.time >= since:
                yield event


def current(slurm: SlurmNode | None) -> tuple[health.Finding, ...]:
    """What the node reports, and what keeps it from jobs; each once."""
    if not slurm:
        return ()
    drains = _of(slurm.reason) if slurm.drained else ()
    mine = {subject(it.text) for it in drains}
    return (*drains, *(it for it in Report.parse(slurm.comment).findings if subject(it.text) not in mine))


def document(slurm: SlurmNode | None, history: Iterable[Event]) -> dict[str, Any]:
    """Findings and history as plain data; times are seconds since the epoch."""
    told = tuple(history)
    findings = [
        {**vars(it), "since": since, "times": times, "page": page(it.text)}
        for it in current(slurm)
        for since, times in [_found(it, told)]
    ]
    return {"findings": findings, "history": [it._asdict() for it in told]}


def _found(finding: health.Finding, history: Iterable[Event]) -> tuple[float | None, int]:
    """Since when it is found without a break, and how often it was found; None and 0 without history."""
    since, times, what = None, 0, subject(finding.text)
    for event in history:
        if what in {subject(health.Finding.parse(one).text) for one in event.text.split("; ")}:
            if event.what == "found":
                since, times = since or event.time, times + 1
            elif event.what == "gone":
                since = None
    return since, times


def lines(slurm: SlurmNode | None, history: tuple[Event, ...]) -> list[str]:
    """The findings of one node and its history, as lines."""
    text: list[str] = []
    drains = bool(slurm and slurm.drained and slurm.reason.startswith(REASON))
    for it in current(slurm):
        since, times = _found(it, history)
        known = [f"found since {_moment(since)}, {_times(times)} in {DAYS} days"] if since else []
        ends = f"; {ENDINGS[it.ends]}" if drains else ""
        about = [f"{FAULTS[it.fault]}{ends}", *known, page(it.text)]
        text += ["", it.text, *(f"  {line}" for line in about)]
    return [*text, *_history(history)]


def _history(history: tuple[Event, ...]) -> list[str]:
    """How often what happened, then the latest events."""
    if not history:
        return []
    counts = Counter(it.what for it in history)
    words = [f"{what} {_times(counts[what])}" for what in ("found", "drained", "lifted", "rebooted") if counts[what]]
    shown = history[-MOST:]
    earlier = [f"  {len(history) - len(shown)} earlier events"] if len(shown) < len(history) else []
    rows = [f"  {_moment(it.time)} {it.what.ljust(8)} {it.text}".rstrip() for it in shown]
    return ["", f"Health in the last {DAYS} days: {', '.join(words) or 'no drain'}.", *earlier, *rows]


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
