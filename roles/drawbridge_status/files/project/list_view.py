# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Projects as lines, as plain data and as rows for a table. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from ..budget.period import following
from . import limits, state
from .limits import Part
from .model import OPEN, Seen

VERSION = 1
"""Of the JSON's shape."""
COLUMNS = (
    *("project", "state", "ends", "gpu_hours_used", "gpu_hours_budget", "begins_anew", "space_bytes_used"),
    *("space_bytes_limit", "files_used", "files_limit", "level"),
)
"""Of the table, whose rows are `row`."""
HEAD = ("PROJECT", "STATE", "ENDS", "HOURS", "SPACE", "FILES")


def lines(found: Sequence[Seen], today: date, notes: Iterable[str] = ()) -> list[str]:
    """One line for each project, notes, and what needs attention."""
    rows = [HEAD, *(_cells(seen, today) for seen in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    said = attention(found, today)
    count = f"{len(found)} project{'s'[: len(found) != 1]}."
    return [
        count,
        *(f"Note: {note}" for note in notes),
        *(["", *table] if found else []),
        *([""] if said else []),
        *said,
    ]


def attention(found: Iterable[Seen], today: date) -> list[str]:
    """A line for each finding, with its project."""
    return [f"project {seen.project.name}: {one.text}" for seen in found for one in state.findings(seen, today)]


def _cells(seen: Seen, today: date) -> tuple[str, ...]:
    project = seen.project
    begins = f", again {following(project.period, today).isoformat()}" if project.period else ""
    hours = "; ".join(f"{it.name.split()[0]} {it.text}" for it in limits.budget(seen))
    space, files = (it.text if it else "-" for it in (limits.space(seen), limits.files(seen)))
    now = state.state(seen, today)
    ended = now != OPEN and project.state == OPEN
    ends = state.left(project.ends, today)
    return project.name, "ended" if ended else now, ends, f"{hours}{begins}" if hours else "-", space, files


def document(found: Sequence[Seen], today: date, level: int, notes: Sequence[str]) -> dict[str, Any]:
    """Everything as plain data."""
    shown = [plain(seen, today) for seen in found]
    return {"version": VERSION, "level": level, "notes": list(notes), "projects": shown}


def plain(seen: Seen, today: date) -> dict[str, Any]:
    """One project. Its keys stay; further ones may come.

    C(null) is unknown, or a part that it does not have. Budgets are in hours, space is in bytes. C(level) is that of
    the exit code. C(people) are those that Slurm shows. C(directory.now) has owner, group and mode as they are.
    """
    project, account = seen.project, seen.account
    directory = project.directory
    return {
        "name": project.name,
        "state": state.state(seen, today),
        "ends": project.ends or None,
        "level": state.level(seen, today),
        "findings": [one._asdict() for one in state.findings(seen, today)],
        "budget": _budget(seen, today) if project.budget else None,
        "space": numbers(limits.space(seen)),
        "files": numbers(limits.files(seen)),
        "people": sorted(account.users) if account else None,
        "takes_jobs": account.takes_jobs if account else None,
        "partitions": list(project.partitions),
        "qos": list(project.qos),
        "fair_share": project.fair_share,
        "limits": {"total": dict(project.total), "per_job": dict(project.per_job), **_counts(seen)},
        "namespace": project.namespace or None,
        "directory": {**vars(directory), **_seen(seen)} if directory else None,
        "claims": [dict(it) for it in project.claims],
        "data": list(project.data),
        "images": dict(project.images) if project.images else None,
        "jobs": None if seen.jobs is None else [one._asdict() for one in seen.jobs],
        "coming": state.coming(seen, today),
        "closed": list(state.closed(seen, today)),
    }


def _counts(seen: Seen) -> dict[str, Any]:
    project = seen.project
    known = {"jobs": project.jobs, "submits": project.submits, "max_time": project.max_time}
    return {key: value for key, value in known.items() if value not in (-1, "")}


def _seen(seen: Seen) -> dict[str, Any]:
    """Owner and mode as they are, beside those of the intent."""
    space = seen.space
    return {"now": {"owner": space.owner, "group": space.group, "mode": space.mode} if space else None}


def _budget(seen: Seen, today: date) -> dict[str, Any]:
    hours = {it.name: _hours(it) for it in limits.budget(seen)}
    kind = seen.project.period
    return {"hours": hours, "period": kind or None, "begins_anew": following(kind, today).isoformat() if kind else None}


def _hours(part: Part) -> dict[str, Any]:
    known = part.used is not None
    return {
        "limit": part.limit / 60,
        "used": part.used / 60 if part.used is not None else None,
        "running": part.running / 60 if known else None,
    }


def numbers(part: Part | None) -> dict[str, Any] | None:
    """Bytes or files."""
    return {"limit": part.limit, "used": part.used} if part else None


def row(seen: Seen, today: date) -> dict[str, Any]:
    """One project as a row of a table."""
    shown = plain(seen, today)
    hours = (shown["budget"] or {}).get("hours", {}).get("GPU hours") or {}
    space, files = shown["space"] or {}, shown["files"] or {}
    return {
        "project": shown["name"],
        "state": shown["state"],
        "ends": shown["ends"],
        "gpu_hours_used": hours.get("used"),
        "gpu_hours_budget": hours.get("limit"),
        "begins_anew": (shown["budget"] or {}).get("begins_anew"),
        "space_bytes_used": space.get("used"),
        "space_bytes_limit": space.get("limit"),
        "files_used": files.get("used"),
        "files_limit": files.get("limit"),
        "level": shown["level"],
    }


def table(rows: Sequence[Mapping[str, Any]], head: Sequence[str]) -> str:
    """CSV with a header. An unknown number is empty, and hours have three decimals."""
    out = io.StringIO()
    writer = csv.DictWriter(out, head, lineterminator="\n")
    writer.writeheader()
    writer.writerows([{key: _cell(value) for key, value in one.items()} for one in rows])
    return out.getvalue().rstrip("\n")


def _cell(value: Any) -> Any:
    return f"{value:.3f}" if isinstance(value, float) else value
