# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The last day of an account or a project: after it no job may be submitted, and jobs that wait or run go on.

It imports nothing of Drawbridge, because the command `drawbridge project` has it too.
"""

from __future__ import annotations

from datetime import date

CLOSED = "0"
"""GrpSubmitJobs of an account that takes no jobs. Slurm refuses them with AssocGrpSubmitJobsLimit."""
KEPT_DAYS = 90
"""Days after a project's end until a person must say what becomes of its data."""


def day(text: str) -> date | None:
    """The date of year-month-day; None for another text and for a day that no calendar has."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def over(ends: str, today: date) -> bool:
    """Whether the last day is past; never without one."""
    return ended_for(ends, today) > 0


def ended_for(ends: str, today: date) -> int:
    """Whole days since the last day; 0 until it is over and without one."""
    last = day(ends)
    return max(0, (today - last).days) if last else 0


def forgotten(ends: str, today: date) -> bool:
    """Whether a project ended so long ago that a person must decide about its data."""
    return ended_for(ends, today) > KEPT_DAYS
