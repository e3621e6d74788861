# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The settings of accounts and QOS in sacctmgr: how each is written, listed, inherited and unset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Callable

ROOT = "root"
"""The account above all others; Slurm creates it."""
Terms = Mapping[str, str]
"""Values by sacctmgr's name, as `Term.read` normalizes them; an empty value is not set."""


@dataclass(frozen=True)
class Term:
    """One setting. `column` is its name in `format=`; setting it to `unset` removes it."""

    key: str
    column: str
    read: Callable[[str], str]
    unset: str = "-1"
    inherited: bool = False
    preset: str = ""
    """The value in a new record."""

    def effective(self, own: str, above: str) -> str:
        """The effective value of an account below another one: limits by TRES merge, other settings replace."""
        if not self.inherited:
            return own
        if self.read is amounts:
            return _written({**_parts(above), **_parts(own)})
        return own or above

    def change(self, have: str, want: str, own: str) -> str:
        """The words after `set`. An amount that is not the account's own is unset, so that the parent's applies."""
        if self.read is not amounts:
            return f"{self.key}={own or self.unset}"
        before, after, own_parts = _parts(have), _parts(want), _parts(own)
        keys = sorted(key for key in {*before, *after} if before.get(key) != after.get(key))
        return f"{self.key}={_written({key: own_parts.get(key, self.unset) for key in keys})}"


def count(value: str) -> str:
    """A number; empty for no limit, as Slurm lists it."""
    return "" if value == "-1" else value


def names(value: str) -> str:
    """A set of names, sorted."""
    return ",".join(sorted(filter(None, value.split(","))))


def amounts(value: str) -> str:
    """Amounts by TRES. Memory is in MiB; Slurm lists it with a unit."""
    return _written({key: _mebibytes(amount) if key == "mem" else amount for key, amount in _parts(value).items()})


def minutes(value: str) -> str:
    """A time limit in minutes. Slurm lists days-hours:minutes:seconds."""
    if not value or value == "-1":
        return ""
    days, _sep, clock = value.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if days:
        hours, mins, secs = [*parts, 0, 0][:3]
    elif len(parts) == 3:
        hours, mins, secs = parts
    else:
        hours, mins, secs = 0, *[*parts, 0][:2]
    return str(int(days or 0) * 1440 + hours * 60 + mins + (1 if secs else 0))


def seconds(value: str) -> str:
    """A time in seconds; empty for none. Slurm takes seconds, and lists days-hours:minutes:seconds."""
    days, _sep, clock = value.rpartition("-")
    total = 0
    for part in clock.split(":"):
        total = total * 60 + int(part or 0)
    return str(total + int(days or 0) * 86400 or "")


def factor(value: str) -> str:
    """A factor; empty for 1. Slurm lists six decimals."""
    number = f"{float(value or 1):.6f}".rstrip("0").rstrip(".")
    return "" if number == "1" else number


ACCOUNT = (
    Term("parent", "parentname", str, ROOT, preset=ROOT),
    Term("fairshare", "share", str, "1", preset="1"),
    Term("qos", "qos", names, "", inherited=True),
    Term("defaultqos", "defaultqos", str, inherited=True),
    Term("GrpTRES", "grptres", amounts),
    Term("GrpJobs", "grpjobs", count),
    Term("GrpSubmitJobs", "grpsubmit", count),
    Term("MaxTRES", "maxtres", amounts, inherited=True),
    Term("MaxWall", "maxwall", minutes, inherited=True),
)
QOS = (
    Term("Priority", "priority", str, "0", preset="0"),
    Term("Preempt", "preempt", names, ""),
    Term("PreemptMode", "preemptmode", str, "cluster", preset="cluster"),
    Term("GrpTRES", "grptres", amounts),
    Term("MaxTRES", "maxtres", amounts),
    Term("MaxTRESPerUser", "maxtrespu", amounts),
    Term("MaxJobsPerUser", "maxjobspu", count),
    Term("MaxSubmitJobsPerUser", "maxsubmitpu", count),
    Term("MaxWall", "maxwall", minutes),
)
EXTENDED = (
    *QOS,
    # -1 removes all flags, and Slurm refuses an empty list
    Term("Flags", "flags", names),
    Term("GraceTime", "gracetime", seconds, "0"),
    Term("UsageFactor", "usagefactor", factor, "1"),
    Term("GrpTRESMins", "grptresmins", amounts),
)
"""All settings of a QOS. Without one of the last four for any QOS, Drawbridge leaves these as others set them."""


def of_qos(services: Iterable[Mapping[str, str]]) -> tuple[Term, ...]:
    """The settings of QOS that Drawbridge keeps if it has these for them."""
    further = {term.key for term in EXTENDED} - {term.key for term in QOS}
    return EXTENDED if any(further & set(values) for values in services) else QOS


def normalized(kind: tuple[Term, ...], values: Mapping[str, str]) -> dict[str, str]:
    """Values as terms, with the presets of a new record. Raises ValueError for an unknown name or a wrong value."""
    known = {term.key: term for term in kind}
    if unknown := sorted(set(values) - set(known)):
        raise ValueError(f"{unknown[0]} is not one of {', '.join(known)}")
    return {key: term.read(values[key]) if key in values else term.preset for key, term in known.items()}


def shown(terms: Terms) -> str:
    """The terms that are set, in one line."""
    return " ".join(f"{key}={value}" for key, value in terms.items() if value)


def _parts(value: str) -> dict[str, str]:
    return {key: amount for key, _sep, amount in (part.partition("=") for part in value.split(",")) if key}


def _written(parts: Mapping[str, str]) -> str:
    return ",".join(f"{key}={parts[key]}" for key in sorted(parts))


def _mebibytes(amount: str) -> str:
    units = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
    if amount[-1:] not in units:
        return amount
    return str(round(float(amount[:-1]) * units[amount[-1]]))


def parents_first(parents: Mapping[str, str]) -> list[str]:
    """Accounts after their parents, otherwise in the given order. Raises ValueError for a ring."""
    ordered: list[str] = []
    while waiting := [name for name in parents if name not in ordered]:
        ready = [name for name in waiting if parents[name] not in waiting]
        if not ready:
            raise ValueError(f"accounts {', '.join(waiting)} are below one another")
        ordered += ready
    return ordered
