# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The report of a month for people, for programs and for a table. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..job.numbers import duration
from . import limits, state
from .limits import Part
from .list_view import VERSION, numbers, table
from .month import Month
from .report import Report, Wait
from .slurm_text import Hours

USERS = ("project", "month", "user", "gpu_hours", "cpu_hours", "node_hours", "jobs")
PROJECTS = (
    *("project", "month", "state", "gpu_hours", "cpu_hours", "node_hours", "users", "gpu_hours_budget", "period"),
    *("space_bytes_used", "space_bytes_limit", "files_used", "files_limit"),
)


def lines(report: Report, notes: Iterable[str] = ()) -> list[str]:
    """One project."""
    seen = report.seen
    found = [f"project {seen.project.name}, {_when(report.month)}", *(f"Note: {note}" for note in notes), ""]
    found += aligned([("USER", "GPU HOURS", "CPU HOURS", "NODE HOURS", "JOBS"), *_users(report)])
    rows = [
        *(("budget", f"{part.name} {part.text}{_each(report)}") for part in report.budget),
        ("wait", _wait(report)),
        *((part.name, f"{part.text} on {report.month.now:%Y-%m-%d}") for part in _room(report)),
    ]
    found += ["", *aligned(rows)]
    if top := report.top:
        head = ("JOB", "USER", "GPU HOURS", "GPUS", "RAN", "STATE")
        cells = [(it.job, it.user, _hours(it.gpu_hours), str(it.gpus), duration(it.ran_s), it.state) for it in top]
        found += ["", *aligned([head, *cells])]
    return found


def _when(month: Month) -> str:
    return month.name if month.over else f"{month.name} up to now: Slurm adds up each hour when it is over"


def _each(report: Report) -> str:
    kind = report.seen.project.period
    return f", each {kind}" if kind else ""


def _users(report: Report) -> list[tuple[str, ...]]:
    if report.hours is None or report.total is None:
        return [("not known", "", "", "", "")]
    jobs = report.jobs
    number = sum(jobs.values()) if jobs is not None else None
    most = sorted(report.hours.items(), key=lambda it: (-it[1].gpu, -it[1].node, it[0]))
    rows = [
        (user, *map(_hours, one), _count((jobs or {}).get(user, 0) if jobs is not None else None)) for user, one in most
    ]
    return [*rows, ("all", *map(_hours, report.total), _count(number))]


def _count(number: int | None) -> str:
    return "?" if number is None else str(number)


def _hours(number: float) -> str:
    return f"{number:.1f}"


def _wait(report: Report) -> str:
    if report.runs is None:
        return "not known"
    wait = report.wait
    if not wait:
        return "no job began"
    began = f"{wait.jobs} job{'s'[: wait.jobs != 1]} began"
    return f"{began}; median {duration(wait.median)}, 95 % within {duration(wait.p95)}"


def _room(report: Report) -> list[Part]:
    return [it for it in (limits.space(report.seen), limits.files(report.seen)) if it]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def document(report: Report, level: int, notes: Sequence[str]) -> dict[str, Any]:
    """One project as plain data. Its keys stay; further ones may come.

    C(null) is unknown, or a part that it does not have. C(complete) is false before the month has ended. C(after) is
    the first day of the next one. C(only_own_use) says that PrivateData hides others. Space is in bytes, as read now.
    """
    jobs, hours, wait = report.jobs, report.hours, report.wait
    users = [
        {"user": user, **_named(one), "jobs": jobs.get(user, 0) if jobs is not None else None}
        for user, one in sorted((hours or {}).items())
    ]
    return {
        "version": VERSION,
        "level": level,
        "notes": list(notes),
        **_month(report.month),
        **_project(report),
        "users": None if hours is None else users,
        "wait": _plain_wait(wait) if report.runs is not None else None,
        "jobs": None if report.runs is None else [one._asdict() for one in report.top],
    }


def _plain_wait(wait: Wait | None) -> dict[str, Any]:
    shown = wait or Wait(0, 0.0, 0.0)
    return {"jobs": shown.jobs, "median_s": shown.median if wait else None, "p95_s": shown.p95 if wait else None}


def _month(month: Month) -> dict[str, Any]:
    return {
        "month": month.name,
        "complete": month.over,
        "first": month.first.isoformat(),
        "after": month.after.isoformat(),
    }


def _named(hours: Hours) -> dict[str, float]:
    return {f"{name}_hours": value for name, value in hours._asdict().items()}


def _project(report: Report) -> dict[str, Any]:
    seen, total = report.seen, report.total
    known = {part.name: part for part in report.budget}
    budget = {
        name: {"limit": part.limit / 60, "used": None if part.used is None else part.used / 60}
        for name, part in known.items()
    }
    kind = seen.project.period
    return {
        "project": seen.project.name,
        "state": state.state(seen, report.month.now.date()),
        "only_own_use": report.only_own,
        "hours": None if total is None else _named(total),
        "budget": {"hours": budget, "period": kind or None} if budget else None,
        "space": numbers(limits.space(seen)),
        "files": numbers(limits.files(seen)),
    }


def users_table(report: Report) -> str:
    """One project: a row of CSV for each user."""
    shown = document(report, 0, ())
    rows = [{"project": shown["project"], "month": shown["month"], **one} for one in shown["users"] or ()]
    return table(rows, USERS)


def all_lines(reports: Sequence[Report], month: Month, notes: Iterable[str] = ()) -> list[str]:
    """One line for each project."""
    rows: list[tuple[str, ...]] = [
        ("PROJECT", "STATE", "GPU HOURS", "CPU HOURS", "NODE HOURS", "BUDGET", "SPACE", "FILES")
    ]
    for one in reports:
        shown = _project(one)
        hours = [_hours(it) for it in one.total] if one.total else ["?"] * 3
        room = (part.text if part else "-" for part in (limits.space(one.seen), limits.files(one.seen)))
        budget = "; ".join(f"{part.name.split()[0]} {part.text}" for part in one.budget) or "-"
        rows.append((shown["project"], shown["state"], *hours, budget, *room))
    return [f"{len(reports)} projects, {_when(month)}", *(f"Note: {note}" for note in notes), "", *aligned(rows)]


def all_document(reports: Sequence[Report], month: Month, level: int, notes: Sequence[str]) -> dict[str, Any]:
    """All projects as plain data."""
    shown = [{**_project(one), "users": _users_of(one)} for one in reports]
    return {"version": VERSION, "level": level, "notes": list(notes), **_month(month), "projects": shown}


def _users_of(report: Report) -> int | None:
    return None if report.hours is None else len(report.hours)


def all_table(reports: Sequence[Report]) -> str:
    """All projects: a row of CSV for each."""
    return table([_row(one) for one in reports], PROJECTS)


def _row(report: Report) -> dict[str, Any]:
    shown = _project(report)
    space, files = shown["space"] or {}, shown["files"] or {}
    budget = (shown["budget"] or {}).get("hours", {}).get("GPU hours", {})
    return {
        "project": shown["project"],
        "month": report.month.name,
        "state": shown["state"],
        **(shown["hours"] or {}),
        "users": _users_of(report),
        "gpu_hours_budget": budget.get("limit"),
        "period": (shown["budget"] or {}).get("period"),
        "space_bytes_used": space.get("used"),
        "space_bytes_limit": space.get("limit"),
        "files_used": files.get("used"),
        "files_limit": files.get("limit"),
    }
