# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Use of QOS as slurmctld counts it: the command that shows it, and its output. Pure.

A user may read a QOS that an own account may use, also with PrivateData=usage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_RECORD = re.compile(r"^QOS=(?P<name>[^\s(]+)\([0-9]+\) UsageRaw=(?P<raw>[0-9.]+) ")
_LIMITS = re.compile(r" (?P<key>GrpTRESMins|GrpTRESRunMins)=(?P<values>\S*)")
_AMOUNT = re.compile(r"(?P<tres>[^=,]+)=(?P<limit>N|[0-9]+)\((?P<used>[0-9]+)\)")


@dataclass(frozen=True)
class Minutes:
    """Minutes of one resource."""

    limit: int
    """-1: none."""
    used: int
    """Whole minutes."""
    running: int = 0
    """Minutes that running jobs may still use, up to their time limits."""

    @property
    def left(self) -> int:
        """Minutes that a new job may request."""
        return max(0, self.limit - self.used - self.running)


@dataclass(frozen=True)
class Usage:
    """Use of a QOS since its last reset."""

    name: str
    raw: float
    """Billing units by seconds."""
    minutes: Mapping[str, Minutes] = field(default_factory=dict)
    """By TRES, such as gres/gpu."""

    @property
    def total(self) -> float:
        """A number that a QOS with NoDecay only ever raises, and that a reset makes 0."""
        return self.raw + sum(it.used for it in self.minutes.values())

    @property
    def budget(self) -> dict[str, Minutes]:
        """The resources that are limited."""
        return {tres: it for tres, it in self.minutes.items() if it.limit >= 0}


def command(names: Iterable[str]) -> tuple[str, ...]:
    """The command that shows the use of these QOS. It leaves out those that slurmctld does not have."""
    return ("scontrol", "--oneliner", "show", "assoc_mgr", "flags=qos", f"qos={','.join(names)}")


def parsed(text: str) -> dict[str, Usage]:
    """The output of the command, by QOS. Lines of another shape are skipped."""
    found = (_usage(line) for line in text.splitlines())
    return {usage.name: usage for usage in found if usage}


def _usage(line: str) -> Usage | None:
    record = _RECORD.match(line)
    if not record:
        return None
    shown = {it["key"]: _amounts(it["values"]) for it in _LIMITS.finditer(line)}
    running = {tres: used for tres, (_limit, used) in shown.get("GrpTRESRunMins", {}).items()}
    totals = shown.get("GrpTRESMins", {})
    minutes = {tres: Minutes(limit, used, running.get(tres, 0)) for tres, (limit, used) in totals.items()}
    return Usage(record["name"], float(record["raw"]), minutes)


def _amounts(text: str) -> dict[str, tuple[int, int]]:
    return {
        it["tres"]: (-1 if it["limit"] == "N" else int(it["limit"]), int(it["used"])) for it in _AMOUNT.finditer(text)
    }
