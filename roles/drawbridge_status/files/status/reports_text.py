# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of runs: the latest result of each node. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any

from ..gate.hostlist import HostlistError, expand
from .model import LastRun

NAMED = ("pending", "refused", "failed", "unreachable")
"""Kinds that a person should know after the run. A step that was made is no concern."""


def last_runs(reports: Iterable[Mapping[str, Any]]) -> dict[str, LastRun]:
    """The latest run of each node. Runs in check mode changed nothing and do not count."""
    found: dict[str, LastRun] = {}
    for report in _newest_first(reports):
        told = [one for one in report.get("findings") or () if one.get("kind") in NAMED]
        named = chain(_names(report.get("names")), *(_names(one.get("hosts")) for one in told))
        if fresh := {name for name in named if name not in found}:
            found.update(_run(report, told, fresh))
    return found


def proofs(reports: Iterable[Mapping[str, Any]]) -> dict[str, LastRun]:
    """The latest run that proved each node ready for jobs. It may be older than the latest run."""
    found: dict[str, LastRun] = {}
    for report in _newest_first(reports):
        run = _last(report)
        for name in _names(report.get("proved")):
            found.setdefault(name, run)
    return found


def _newest_first(reports: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    runs = (report for report in reports if not report.get("check"))
    return sorted(runs, key=lambda report: str(report.get("started", "")), reverse=True)


def _run(report: Mapping[str, Any], told: Iterable[Mapping[str, Any]], names: set[str]) -> dict[str, LastRun]:
    """The run of one report, for these nodes."""
    texts: dict[str, list[tuple[str, str]]] = {}
    for found in told:
        for name in _names(found.get("hosts")):
            if name in names:
                text = " ".join(str(found["text"]).replace("HOST", name).split())
                texts.setdefault(name, []).append((found["kind"], text))
    quiet = _last(report)
    return {name: quiet._replace(findings=tuple(texts[name])) if name in texts else quiet for name in names}


def _last(report: Mapping[str, Any]) -> LastRun:
    return LastRun(str(report.get("playbook", "")), str(report.get("started", "")))


@cache
def _expanded(hosts: str) -> tuple[str, ...]:
    """Names of a hostlist; runs of the whole site share it."""
    try:
        return tuple(expand(hosts))
    except HostlistError:
        return ()


def _names(hosts: object) -> tuple[str, ...]:
    return _expanded(str(hosts or ""))
