# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One look: budgets of a new period begin anew, and accounts past their last day take no jobs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from ...core.command import Run
from ...core.converge import DeviceError
from ..accounting.ends import CLOSED, over
from ..accounting.text import rows
from ..budget import usage
from .memory import Entry, Look, Verdict, effective, judged
from .settings import Settings
from .store_io import Store

_BOOT = re.compile(r"^BOOT_TIME\s*=\s*([0-9]+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """Where the program works."""

    settings: Settings
    store: Store
    run: Run
    say: Callable[[str], None]
    clock: Callable[[], float]
    """Seconds since the epoch. The day is that of the controller's time zone."""

    @property
    def today(self) -> date:
        """The day."""
        return date.fromtimestamp(self.clock())


def tend(place: Place) -> bool:
    """Do both; whether all went well. What failed is said, and the next look does it."""
    with place.store.locked() as mine:
        return not mine or all([_without_error(place, work) for work in (budgets, ends)])


def _without_error(place: Place, work: Callable[[Place], bool]) -> bool:
    try:
        return work(place)
    except DeviceError as err:
        place.say(str(err))
        return False


def budgets(place: Place) -> bool:
    """Begin budgets anew; whether all went well. Raises DeviceError."""
    periods = place.settings.periods
    if not periods:
        return True
    entries = {name: entry for name, entry in place.store.load().items() if name in periods}
    shown = usage.parsed(place.run(usage.command(sorted(periods))).out)
    booted = _booted(place) if any(entry.reset for entry in entries.values()) else 0.0
    well = True
    for name, kind in sorted(periods.items()):
        if name not in shown:
            place.say(f"slurmctld does not have QOS {name} yet")
            well = False
            continue
        look = Look(kind, place.today, shown[name].total, place.clock(), booted)
        well &= _one(place, name, entries, judged(entries.get(name), look))
    place.store.save(entries)
    return well


def _one(place: Place, name: str, entries: dict[str, Entry], verdict: Verdict) -> bool:
    """Keep the record of one QOS, and reset it if that is due. Raises DeviceError."""
    entries[name] = verdict.entry
    if verdict.amiss:
        day, file = verdict.entry.since, place.store.record
        place.say(f"QOS {name} counts since {day}, which the clock says is to come: set the clock, or remove {file}")
        return False
    if not verdict.due:
        return True
    # with the record first, a reset is not made twice
    place.store.save(entries)
    place.run(["sacctmgr", "-i", "modify", "qos", "where", f"name={name}", "set", "RawUsage=0"])
    found = usage.parsed(place.run(usage.command([name])).out).get(name)
    done = effective(verdict.entry, found.total, place.clock()) if found else None
    if not done:
        place.say(f"sacctmgr reported success, but the use of QOS {name} is not reset; the next look tries again")
        return False
    entries[name] = done
    place.say(f"the budget of QOS {name} begins anew, for the period from {done.since}")
    return True


def _booted(place: Place) -> float:
    found = _BOOT.search(place.run(["scontrol", "show", "config"]).out)
    return float(found.group(1)) if found else 0.0


def ends(place: Place) -> bool:
    """Close accounts that are past their last day; whether all went well. Raises DeviceError."""
    past = sorted(name for name, day in place.settings.ends.items() if over(day, place.today))
    # slurm_accounting makes and removes accounts: one that is missing here is no fault
    still_open = [name for name, value in _submits(place, past).items() if value != CLOSED] if past else []
    for name in still_open:
        argv = ["sacctmgr", "-i", "modify", "account", "where", f"name={name}", f"cluster={place.settings.cluster}"]
        place.run([*argv, "set", f"GrpSubmitJobs={CLOSED}"])
    left = [name for name, value in _submits(place, still_open).items() if value != CLOSED] if still_open else []
    for name in still_open:
        done = "takes no more jobs" if name not in left else "still takes jobs, although sacctmgr reported success"
        place.say(f"account {name} ended on {place.settings.ends[name]}: it {done}")
    return not left


def _submits(place: Place, names: list[str]) -> Mapping[str, str]:
    """GrpSubmitJobs of accounts. Raises DeviceError."""
    where = ["where", f"account={','.join(names)}", "user=", f"cluster={place.settings.cluster}"]
    out = place.run(["sacctmgr", "-nP", "list", "assoc", *where, "format=account,user,grpsubmit"]).out
    return {account: value for account, user, value in (row for row in rows(out) if len(row) == 3) if not user}
