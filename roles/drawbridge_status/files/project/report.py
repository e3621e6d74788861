# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of a month: who used how much, how long jobs waited, and the jobs that used most. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from . import limits
from .limits import BUDGETS, Part
from .model import Seen
from .month import Month
from .slurm_text import RESOURCES, Hours, Run

MOST = 10
"""Jobs that are named."""


class Wait(NamedTuple):
    """How long the jobs waited that began in the month, in seconds."""

    jobs: int
    median: float
    """Half of them waited no longer."""
    p95: float
    """95 % of them waited no longer."""


class Top(NamedTuple):
    """A job that used much, with all its runs in the month."""

    job: str
    user: str
    state: str
    gpus: int
    gpu_hours: float
    ran_s: float


@dataclass(frozen=True)
class Report:
    """One project in a month."""

    seen: Seen
    month: Month
    hours: Mapping[str, Hours] | None = field(default_factory=dict)
    """By user; None: not known."""
    runs: Sequence[Run] | None = None
    """None: not known, or not read."""
    only_own: bool = False
    """Whether PrivateData hides the use of others."""

    @property
    def total(self) -> Hours | None:
        """Of all users."""
        return None if self.hours is None else summed(self.hours.values())

    @property
    def jobs(self) -> Mapping[str, int] | None:
        """The number of jobs that ran in the month, by user."""
        if self.runs is None:
            return None
        owners = {run.job: run.user for run in self.runs if _seconds(run, self.month)}
        users = list(owners.values())
        return {user: users.count(user) for user in dict.fromkeys(users)}

    @property
    def wait(self) -> Wait | None:
        """None without jobs that began."""
        waits = sorted(
            max(0.0, run.start - run.ready)
            for run in self.runs or ()
            if run.ready and self.month.begin <= run.start < self.month.end
        )
        return Wait(len(waits), _within(waits, 50), _within(waits, 95)) if waits else None

    @property
    def top(self) -> list[Top]:
        """The jobs with most GPU hours, the most first."""
        found: dict[str, Top] = {}
        for run in self.runs or ():
            if ran := _seconds(run, self.month):
                had = found.get(run.job, Top(run.job, run.user, "", 0, 0.0, 0.0))
                hours = had.gpu_hours + run.gpus * ran / 3600
                found[run.job] = Top(run.job, run.user, run.state, run.gpus, hours, had.ran_s + ran)
        most = sorted(found.values(), key=lambda it: -it.gpu_hours)
        return [it for it in most[:MOST] if it.gpu_hours]

    @property
    def budget(self) -> list[Part]:
        """Its budget. Of a month that is over, Slurm's hours are the use, if the budget is one of months."""
        if not self.month.over:
            return limits.budget(self.seen)
        monthly, total = self.seen.project.period == "month", self.total
        known = limits.budget(self.seen._replace(usage=None))
        if not monthly or total is None or self.only_own:
            return known
        used = {key: getattr(total, RESOURCES[resource]) for resource, key in BUDGETS.items()}
        return [part._replace(used=round(60 * used[part.name.lower().replace(" ", "_")])) for part in known]


def _within(waits: Sequence[float], percent: int) -> float:
    """The least of them that so many percent do not exceed."""
    return waits[-(-percent * len(waits) // 100) - 1]


def _seconds(run: Run, month: Month) -> float:
    """How long it ran in the month."""
    return max(0.0, min(run.end or month.end, month.end) - max(run.start, month.begin)) if run.start else 0.0


def summed(hours: Iterable[Hours]) -> Hours:
    """The sum."""
    total = Hours()
    for one in hours:
        total = total.plus(one)
    return total
