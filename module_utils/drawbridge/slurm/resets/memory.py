# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The record of resets: which period of each QOS is counted, and whether a reset is due. Pure.

A reset is written here before it is made. Use of a QOS with NoDecay only rises, so lower use proves that the reset was
made, also if the program died right after it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

from ..budget.period import begin

SAVED_S = 900.0
"""slurmctld saves use every five minutes; one that dies before has the old use again."""


@dataclass(frozen=True)
class Reset:
    """A reset that was ordered."""

    period: str
    """The first day of the period that it begins."""
    used: float
    """The use before it."""
    seen: float = 0.0
    """When its effect was seen, in seconds since the epoch; 0: not yet."""


@dataclass(frozen=True)
class Entry:
    """The record of one QOS."""

    since: str
    """The first day of the period that is counted."""
    reset: Reset | None = None


@dataclass(frozen=True)
class Look:
    """What the program sees of a QOS."""

    kind: str
    today: date
    used: float
    now: float
    booted: float
    """When slurmctld started; both in seconds since the epoch."""


@dataclass(frozen=True)
class Verdict:
    """What to do."""

    entry: Entry
    due: bool = False
    """Whether a reset must be made; the entry has it."""
    amiss: bool = False
    """Whether the clock is before the record."""


def judged(entry: Entry | None, look: Look) -> Verdict:
    """Whether a QOS begins anew. One that is seen for the first time goes on with the use that it has."""
    first = begin(look.kind, look.today).isoformat()
    if entry is None:
        return Verdict(Entry(first))
    if entry.since > look.today.isoformat():
        return Verdict(entry, amiss=True)
    if entry.reset:
        if _missing(entry.reset, look):
            return Verdict(Entry(entry.since, Reset(first, look.used)), due=True)
        entry = _settled(entry, entry.reset, look)
    if entry.since < first:
        return Verdict(Entry(entry.since, Reset(first, look.used)), due=True)
    return Verdict(entry)


def _missing(reset: Reset, look: Look) -> bool:
    """Whether a reset has no effect: it was never seen, or a restart of slurmctld lost it."""
    return look.used >= reset.used and (not reset.seen or (reset.used > 0 and look.booted > reset.seen))


def _settled(entry: Entry, reset: Reset, look: Look) -> Entry:
    """The entry after a reset. It is kept until slurmctld has saved it for sure."""
    seen = replace(reset, seen=reset.seen or look.now)
    return Entry(reset.period, seen if look.now - seen.seen < SAVED_S else None)


def effective(entry: Entry, used: float, now: float) -> Entry | None:
    """The entry after the command, by the use that was read back; None if the reset has no effect."""
    if not entry.reset or (used >= entry.reset.used and used > 0):
        return None
    return Entry(entry.reset.period, replace(entry.reset, seen=now))


def text(entries: Mapping[str, Entry]) -> str:
    """The record as JSON."""
    return f"{json.dumps({name: asdict(entry) for name, entry in sorted(entries.items())}, indent=1)}\n"


def parsed(record: str) -> dict[str, Entry]:
    """The record. Raises ValueError."""
    try:
        return {str(name): _entry(shown) for name, shown in json.loads(record).items()}
    except (LookupError, TypeError, AttributeError) as err:
        raise ValueError(f"{type(err).__name__}: {err}") from err


def _entry(shown: Mapping[str, Any]) -> Entry:
    own = shown.get("reset")
    reset = Reset(_day(own["period"]), float(own["used"]), float(own["seen"])) if own else None
    return Entry(_day(shown["since"]), reset)


def _day(value: Any) -> str:
    return date.fromisoformat(value).isoformat()
