# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All findings, judged, folded and as text: the verdict first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..core import hostlist
from ..core.own_name import marked, named
from . import across_findings, hardware_findings, reach_findings, system_findings
from .model import CAUSES, Answer, Finding, Found, of_table

ALONE = (*reach_findings.TABLE, *system_findings.TABLE, *hardware_findings.TABLE)
"""Findings of one host."""
ROWS: Mapping[str, Finding] = {
    row.name: row for cause in CAUSES for row in (*across_findings.TABLE, *ALONE) if row.cause == cause
}
"""All findings by name, in the order of a report."""
VERSION = 1
"""Of the JSON report's shape."""


def found(answers: Sequence[Answer]) -> list[Found]:
    """Findings of all hosts."""
    alone = (item for answer in answers if not answer.lost for item in of_table(ALONE, answer))
    return [*across_findings.across(answers), *alone]


def document(findings: Iterable[Found], hosts: int, accepted: Collection[str]) -> dict[str, Any]:
    """The report as plain data: each sentence once, with its hosts."""
    folded: dict[tuple[str, str], list[str]] = {}
    for item in findings:
        folded.setdefault((item.name, marked(item.text, item.host)), []).append(item.host)
    order = list(ROWS)
    lines = [_line(name, text, names, accepted) for (name, text), names in folded.items()]
    lines.sort(key=lambda line: order.index(line["name"]))
    bad = [line for line in lines if not line["accepted"]]
    return {"version": VERSION, "sound": not bad, "hosts": hosts, "findings": lines}


def _line(name: str, text: str, names: Sequence[str], accepted: Collection[str]) -> dict[str, Any]:
    row, hosts = ROWS[name], sorted(set(names))
    return {
        "name": name,
        "cause": row.cause,
        "hosts": hostlist.in_order(hosts),
        "text": named(text, hosts),
        "why": row.why,
        "repair": row.repair,
        "accepted": name in accepted,
    }


def lines(report: Mapping[str, Any], variable: str) -> Iterator[str]:
    """The report for a terminal. `variable` is the caller's list of accepted findings."""
    bad = [line for line in report["findings"] if not line["accepted"]]
    accepted = [line for line in report["findings"] if line["accepted"]]
    yield _verdict(report, bad, accepted)
    for cause in CAUSES:
        if mine := [line for line in bad if line["cause"] == cause]:
            yield ""
            yield cause
            yield from _section(mine)
    if accepted:
        yield ""
        yield "Accepted"
        yield from (f"  {line['name']}  {line['hosts']}: {line['text']}" for line in accepted)
    if bad:
        names = ", ".join(dict.fromkeys(line["name"] for line in bad))
        yield ""
        yield f"Next: make the repairs, or accept findings with {variable}: [{names}]"


def _verdict(report: Mapping[str, Any], bad: Sequence[Any], accepted: Sequence[Any]) -> str:
    """The first line."""
    hosts = _count(report["hosts"], "host")
    also = f"; accepted: {', '.join(dict.fromkeys(line['name'] for line in accepted))}" if accepted else ""
    if not bad:
        return f"Preflight: sound, {hosts}{also}."
    names = {line["name"] for line in bad}
    touched = {name for line in bad for name in hostlist.expand(line["hosts"])}
    return f"Preflight: not sound. {_count(len(names), 'finding')} on {len(touched)} of {hosts}{also}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _section(mine: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for name in dict.fromkeys(line["name"] for line in mine):
        same = [line for line in mine if line["name"] == name]
        yield f"  {name}: {same[0]['why']}"
        yield from (f"    {line['hosts']}: {line['text']}" for line in same)
        yield f"    repair: {same[0]['repair']}"
