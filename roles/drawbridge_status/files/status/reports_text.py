# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of runs: the latest result of each node. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..gate.hostlist import HostlistError, expand
from .model import LastRun

NAMED = ("pending", "refused", "failed", "unreachable")
"""Kinds that a person should know after the run. A step that was made is no concern."""


def last_runs(reports: Iterable[Mapping[str, Any]]) -> dict[str, LastRun]:
    """The latest run of each node. Runs in check mode changed nothing and do not count."""
    found: dict[str, LastRun] = {}
    for report in sorted(reports, key=lambda report: str(report.get("started", ""))):
        if not report.get("check"):
            found.update(_run(report))
    return found


def _run(report: Mapping[str, Any]) -> dict[str, LastRun]:
    """The run of one report, for every node that it names."""
    texts: dict[str, list[tuple[str, str]]] = {name: [] for name in _names(report.get("names"))}
    for found in report.get("findings") or ():
        for name in _names(found.get("hosts")) if found.get("kind") in NAMED else ():
            texts.setdefault(name, []).append(
                (found["kind"], " ".join(str(found["text"]).replace("HOST", name).split()))
            )
    playbook, started = str(report.get("playbook", "")), str(report.get("started", ""))
    return {name: LastRun(playbook, started, tuple(said)) for name, said in texts.items()}


def _names(hosts: object) -> list[str]:
    try:
        return expand(str(hosts or ""))
    except HostlistError:
        return []
