# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A report as the lines that a terminal shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..core import hostlist
from ..core.quantities import SHORT_S, count, duration
from .collect import CHANGED, FAILED, PENDING, REFUSED, STOPPED, UNREACHABLE
from .command import real
from .fold import Document, hosts_of, of_kind
from .shorten import shortened

TITLES = {
    CHANGED: "Changed",
    PENDING: "Pending: a later run makes these steps",
    REFUSED: "Refused: no step was made there",
    FAILED: "Failed",
    STOPPED: "Not run, because a layer that they need failed",
    UNREACHABLE: "Unreachable",
}
"""Headings of a report by kind, in their order."""
PREDICTED = "To change: the next run makes these steps"
SITE = "all hosts"
"""Where a finding is about no single host."""
COLUMN = 24
"""Hostlists up to this width stand beside their sentence, longer ones above it."""
LONGEST = 160
"""A longer hostlist is cut; its number of hosts stands before it."""
MOST_STEPS = 60
"""More steps of one layer are counted, not printed; the JSON report has all."""
LONGEST_PLAYS = 3


def text(report: Document) -> list[str]:
    """The whole report."""
    lines = [summary(report)]
    for kind in TITLES:
        if found := of_kind(report, kind):
            lines += ["", title(report, kind), *_section(found)]
    if gone := report.get("gone"):
        lines += ["", f"Gone since {report['since']}", *_section(gone)]
    lines += [""] + [f"Next: {sentence}" for sentence in steps_of_person(report)]
    return [*lines, *times(report)]


def title(report: Document, kind: str) -> str:
    """The heading of the findings of this kind."""
    return PREDICTED if kind == CHANGED and report["check"] else TITLES[kind]


def summary(report: Document) -> str:
    """The first line: what the run did."""
    steps, hosts = of_kind(report, CHANGED), report["hosts"]
    name = f"{report['playbook']} --check" if report["check"] else report["playbook"]
    refused = of_kind(report, REFUSED)
    if refused and not (steps or hosts_of(refused)):
        return f"{name}: refused: {count(len(refused), 'fault')}. {duration(report['seconds'])}."
    done = "to make" if report["check"] else "made"
    what = f"{count(_number(steps), 'step')} {done} on {_places(steps)}" if steps else "nothing to change"
    parts = [f"{what}, of {count(hosts, 'host')}" if steps else f"{what} on {count(hosts, 'host')}"]
    if waiting := of_kind(report, PENDING):
        parts.append(f"{count(_number(waiting), 'step')} pending")
    parts += [f"{TITLES[kind].split(':')[0].lower()} on {_places(found)}" for kind, found in _bad(report)]
    if "since" in report:
        new = sum(len(hostlist.expand(found["new"])) for found in of_kind(report, CHANGED))
        parts.append(f"{count(new, 'step')} new since {report['since']}")
    return f"{name}: {'; '.join(parts)}. {duration(report['seconds'])}."


def _bad(report: Document) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for kind in (REFUSED, FAILED, UNREACHABLE):
        if found := of_kind(report, kind):
            yield kind, found


def steps_of_person(report: Document) -> list[str]:
    """What a person does next, each with its command."""
    command = report["command"]
    found = []
    if of_kind(report, REFUSED):
        found.append(f"repair what the refusal names, or add its line to the inventory; then run: {command}")
    if names := hosts_of(of_kind(report, UNREACHABLE)):
        found.append(f"look why Ansible can't log in, for example with: ssh {names[0]} true; then run: {command}")
    if of_kind(report, FAILED):
        found.append(f"repair the cause; then run: {command}")
    if of_kind(report, PENDING) and not found:
        found.append(f"when the reasons for pending steps have ended, run: {real(command)}")
    if report["check"] and of_kind(report, CHANGED) and not found:
        found.append(f"make the steps: {real(command)}")
    return found


def times(report: Document) -> list[str]:
    """How long the run took, and its longest plays."""
    plays = sorted(report["plays"], key=lambda play: -play["seconds"])[:LONGEST_PLAYS]
    shown = [f"{play['name']} {duration(play['seconds'])}" for play in plays if play["seconds"] >= SHORT_S]
    return [f"Time: {'; '.join([duration(report['seconds']), *shown])}"]


def _section(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for layer in dict.fromkeys(one["layer"] for one in found):
        mine = shortened([one for one in found if one["layer"] == layer])
        yield f"  {layer}"
        last = None
        for one in mine[:MOST_STEPS]:
            where = place(one["hosts"])
            yield from _entry("" if where == last else where, sentences(one))
            last = where
        if len(mine) > MOST_STEPS:
            yield f"    and {len(mine) - MOST_STEPS} more, which the JSON report has"


def sentences(found: Mapping[str, Any]) -> list[str]:
    """The finding's text as lines, with its task where the text is a cause, and its new hosts."""
    lines = found["text"].splitlines() or [""]
    if found["kind"] == FAILED:
        lines[0] = f"{found['task']}: {lines[0]}"
    if new := found.get("new"):
        lines[-1] += " (new)" if new == found["hosts"] else f" (new on {new})"
    return lines


def place(hosts: str) -> str:
    """The hostlist, or its beginning with the number of hosts."""
    if len(hosts) <= LONGEST:
        return hosts or SITE
    return f"{count(hostlist.count(hosts), 'host')}: {hosts[:LONGEST].rpartition(',')[0]},..."


def _entry(where: str, lines: Iterable[str]) -> Iterator[str]:
    if len(where) > COLUMN:
        yield f"    {where}"
        where = ""
    for line in lines:
        yield f"    {where:{COLUMN}}  {line}".rstrip()
        where = ""


def _number(found: Iterable[Mapping[str, Any]]) -> int:
    """Findings with one for each host."""
    return sum(max(1, hostlist.count(one["hosts"])) for one in found)


def _places(found: Sequence[Mapping[str, Any]]) -> str:
    hosts = len(hosts_of(found))
    return count(hosts, "host") if hosts else SITE
