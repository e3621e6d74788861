# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings of many hosts as the lines of a report: the same sentence of many hosts is one line with a hostlist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..core import hostlist
from ..core.own_name import marked, named
from .collect import CHANGED, FAILED, KINDS, PENDING, REFUSED, UNREACHABLE, Finding

VERSION = 1
"""Of the JSON report's shape."""
WHOLE_SITE = ""
"""Hosts of a finding that is about no single host."""
Document = Mapping[str, Any]
"""A report as plain data; document() has its keys."""


@dataclass(frozen=True)
class Line:
    """The same finding of one or many hosts."""

    kind: str
    layer: str
    task: str
    text: str
    hosts: str
    """A hostlist in natural order; empty for the whole site."""


@dataclass(frozen=True)
class Run:
    """A run as a whole."""

    playbook: str
    """File name of the first playbook."""
    check: bool
    command: str
    """The command line without secrets."""
    started: str
    """ISO 8601, UTC."""
    seconds: float
    plays: Sequence[tuple[str, float]]
    """Names with seconds, in their order."""
    hosts: int
    """How many hosts have a result."""
    names: str = ""
    """Their hostlist."""
    proved: str = ""
    """Hostlist of nodes that the run proved ready for jobs; empty in check mode, which proves nothing."""
    inventory: str = ""
    """Its sources, relative to the working directory if they are below it."""


def fold(findings: Iterable[Finding]) -> list[Line]:
    """Lines by kind, then by layer and sentence in the order in which they first came."""
    hosts: dict[tuple[str, str, str, str], list[str]] = {}
    for found in findings:
        text = marked(found.text, found.host)
        hosts.setdefault((found.kind, found.layer, found.task, text), []).append(found.host)
    layers = {layer: at for at, layer in enumerate(dict.fromkeys(layer for _unused, layer, _unused, _unused in hosts))}
    lines = [_line(key, names) for key, names in hosts.items()]
    return sorted(lines, key=lambda line: (KINDS.index(line.kind), layers[line.layer]))


def _line(key: tuple[str, str, str, str], names: Sequence[str]) -> Line:
    kind, layer, task, text = key
    known = sorted({name for name in names if name})
    return Line(kind, layer, task, named(text, known), hostlist.in_order(known))


def document(run: Run, lines: Sequence[Line]) -> dict[str, Any]:
    """The report as plain data."""
    plays = [{"name": name, "seconds": round(seconds, 1)} for name, seconds in run.plays]
    own = {**asdict(run), "seconds": round(run.seconds, 1), "plays": plays}
    return {"version": VERSION, **own, "findings": [asdict(line) for line in lines]}


def of_kind(report: Document, *kinds: str) -> list[dict[str, Any]]:
    """The findings of these kinds."""
    return [found for found in report["findings"] if found["kind"] in kinds]


def hosts_of(findings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of all their hosts, each once, in natural order."""
    names = {name for found in findings for name in hostlist.expand(found["hosts"])}
    return hostlist.expand(hostlist.in_order(sorted(names)))


COMPARED = (CHANGED, PENDING, REFUSED, FAILED, UNREACHABLE)


def compared(report: Document, last: Document) -> dict[str, Any]:
    """The report with the new hosts of each finding since the last one, and the findings that are gone.

    `new` is a hostlist; `since` is when the last run began.
    """
    before, now = _by_host(last), _by_host(report)
    findings = [{**found, "new": _only(found, before)} for found in report["findings"]]
    gone = [{**found, "hosts": _only(found, now)} for found in of_kind(last, *COMPARED) if _is_in(found, now)]
    return {**report, "since": last["started"], "findings": findings, "gone": gone}


def _key(found: Mapping[str, Any], host: str) -> tuple[str, str, str, str]:
    return found["kind"], found["layer"], host, named(marked(found["text"], host), ())


def _by_host(report: Document) -> set[tuple[str, str, str, str]]:
    return {_key(found, host) for found in report["findings"] for host in _each(found)}


def _each(found: Mapping[str, Any]) -> list[str]:
    return hostlist.expand(found["hosts"]) or [WHOLE_SITE]


def _only(found: Mapping[str, Any], others: set[tuple[str, str, str, str]]) -> str:
    return hostlist.compress([host for host in _each(found) if host and _key(found, host) not in others])


def _is_in(found: Mapping[str, Any], now: set[tuple[str, str, str, str]]) -> bool:
    """Whether the finding is gone for some host."""
    return any(_key(found, host) not in now for host in _each(found))
