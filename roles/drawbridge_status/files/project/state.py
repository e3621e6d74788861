# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person should know of a project now, and what happens next. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from ..budget.period import following
from ..budget.words import RESOURCES, hours, waits
from . import limits
from .ends import KEPT_DAYS, day, ended_for, forgotten
from .limits import Part
from .model import CLOSED, CRITICAL, OK, OPEN, WARNING, Finding, Seen

SHUT = "0500"
"""The mode of a closed directory, which is then root's."""
NEAR = 90.0
"""Percent of a limit from which a person should know."""
SOON_DAYS = 14
REASON_OF_CLOSED = "AssocGrpSubmitJobsLimit"
FULL = {
    limits.SPACE: 'writes fail with "Disk quota exceeded" (EDQUOT)',
    limits.FILES: 'new files fail with "Disk quota exceeded" (EDQUOT)',
}
DELETE = {limits.SPACE: "delete files, or request a larger quota", limits.FILES: "delete or pack small files"}


def state(seen: Seen, today: date) -> str:
    """The state on this day: open, closed, archived or removed. A project is open until its last day is over."""
    project = seen.project
    return CLOSED if project.state == OPEN and ended_for(project.ends, today) else project.state


def level(seen: Seen, today: date) -> int:
    """The worst finding's."""
    return max((it.level for it in findings(seen, today)), default=OK)


def findings(seen: Seen, today: date) -> list[Finding]:
    """All that needs attention, the worst first. Nothing of a project that is archived or removed does."""
    if not seen.project.has_account:
        return []
    found = [
        *_end(seen, today),
        *_account(seen, today),
        *(it for part in limits.parts(seen) for it in _part(seen, part)),
    ]
    return sorted(found, key=lambda one: -one.level)


def _end(seen: Seen, today: date) -> Iterator[Finding]:
    project = seen.project
    last, days = day(project.ends), ended_for(project.ends, today)
    if project.state == CLOSED:
        yield Finding(WARNING, "it is closed by an administrator: no new jobs, no access to its directory")
    elif forgotten(project.ends, today):
        text = f"it ended on {project.ends}, {days} days ago, and no one has said what becomes of its data"
        yield Finding(CRITICAL, text, "an administrator sets state: closed, archived or removed, or a later day")
    elif days:
        yield Finding(WARNING, f"it ended on {project.ends}: no new jobs, no access to its directory")
    elif last and (last - today).days <= SOON_DAYS:
        text = f"it ends {_in(last, today)}, on {project.ends}"
        yield Finding(WARNING, text, "copy what you need, or request a later day")


def _account(seen: Seen, today: date) -> Iterator[Finding]:
    account, project = seen.account, seen.project
    if account is None and seen.known:
        yield Finding(CRITICAL, "Slurm has no account of this name", "an administrator runs projects.yml")
    elif account and account.takes_jobs is False and state(seen, today) == OPEN and project.submits:
        text = "its account takes no jobs (GrpSubmitJobs=0), although the project is open"
        yield Finding(WARNING, text, "an administrator runs projects.yml")


def _part(seen: Seen, part: Part) -> Iterator[Finding]:
    percent, name = part.percent, part.name
    if percent is None or percent < NEAR:
        return
    if name in FULL:
        text = f"{name}: {part.text}{f'; {FULL[name]}' if part.full else ''}"
        yield Finding(CRITICAL if part.full else WARNING, text, DELETE[name])
        return
    begins = seen.project.period
    text = f"{name}: {part.text}"
    if part.full:
        again = " until it begins anew" if begins else ", and it does not begin anew"
        yield Finding(WARNING if begins else CRITICAL, f"{text}; no job can start{again}", "request a larger budget")
    else:
        yield Finding(WARNING, text, f"a job starts if its whole time limit fits into {hours(_left(part))} {name}")


def _left(part: Part) -> int:
    return max(0, part.limit - (part.used or 0) - part.running)


def jobs(seen: Seen, today: date) -> list[str]:
    """Its jobs that run or wait: their number, and sentences of those that wait for the budget or the account."""
    known = seen.jobs or ()
    states = Counter(job.state for job in known)
    text = ", ".join(f"{number} {word.lower()}" for word, number in sorted(states.items(), reverse=True))
    found = [text or "none"]
    for reason, number in Counter(it.reason for it in known if it.state == "PENDING").items():
        why = _why(seen, reason, today)
        found += [f"{number} wait{'s' if number == 1 else ''} ({reason}): {why}"] if why else []
    return found


def _why(seen: Seen, reason: str, today: date) -> str:
    """Why jobs wait; "" for reasons that have nothing to do with the project."""
    if reason in RESOURCES:
        return waits(reason, seen.project.own_qos, seen.usage, seen.project.period, today)
    return "the account takes no more jobs" if reason == REASON_OF_CLOSED else ""


def coming(seen: Seen, today: date) -> list[str]:
    """What happens next, by day."""
    project = seen.project
    found: list[tuple[date, str]] = []
    last = day(project.ends)
    if project.period and state(seen, today) == OPEN:
        again = following(project.period, today)
        found.append((again, f"the budget begins anew {_in(again, today)}: its use counts from 0"))
    if last and project.state == OPEN:
        found += _ending(last, today)
    return [f"{when.isoformat()}  {text}" for when, text in sorted(found)]


def _ending(last: date, today: date) -> Iterator[tuple[date, str]]:
    closed, decide = last + timedelta(days=1), last + timedelta(days=KEPT_DAYS)
    if today <= last:
        yield last, f"the last day, {_in(last, today)}"
        yield closed, "no new jobs; when the last job has ended, a run of projects.yml closes the directory"
    if today <= decide:
        yield decide, "until then an administrator must say what becomes of the data"


def _in(when: date, today: date) -> str:
    days = (when - today).days
    return "today" if not days else f"in {days} day{'s' if days != 1 else ''}"


def left(ends: str, today: date) -> str:
    """The end with the days left, for a line."""
    last = day(ends)
    if not last:
        return "-"
    days = ended_for(ends, today)
    return f"{ends} ({f'{days} days ago' if days else _in(last, today)})"


def closed(seen: Seen, today: date) -> Sequence[str]:
    """Its closed parts, and why."""
    project, now = seen.project, state(seen, today)
    if now == OPEN:
        return ()
    if not project.has_account:
        gone = "the account, the namespace and the path of its data are gone"
        return (f"everything: it is {now}; {gone}{', and the data is deleted' if now == 'removed' else ''}",)
    why = "an administrator closed it" if project.state == CLOSED else f"it ended on {project.ends}"
    return tuple(_closed_parts(seen, why))


def _closed_parts(seen: Seen, why: str) -> Iterator[str]:
    account, space = seen.account, seen.space
    still = account is not None and account.takes_jobs
    yield f"jobs: {why}{'; the account still takes jobs, for an hour at most' if still else ''}"
    if seen.project.directory and space:
        shut = space.owner == "root" and space.mode == SHUT
        wait = "still open, until its last job has ended and projects.yml has run"
        yield f"directory: {why}; its files can't be read now" if shut else f"directory: {wait}"
