# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The last day of an account: after it no job may be submitted, and jobs that wait or run go on."""

from __future__ import annotations

from datetime import date

CLOSED = "0"
"""GrpSubmitJobs of an account that takes no jobs. Slurm refuses them with AssocGrpSubmitJobsLimit."""


def day(text: str) -> date | None:
    """The date of year-month-day; None for another text and for a day that no calendar has."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def over(ends: str, today: date) -> bool:
    """Whether the last day is past; never without one."""
    last = day(ends)
    return last is not None and today > last
