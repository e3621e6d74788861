# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The last day of a project."""

from __future__ import annotations

from datetime import date, timedelta

KEPT_DAYS = 90
"""Days after a project's end until a person must say what becomes of its data."""


def today() -> date:
    """This process's day."""
    return date.today()


def day(text: str) -> date | None:
    """The date of year-month-day; None for a day that no calendar has."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def ended_for(ends: str, now: date) -> int:
    """Whole days since a project's last day; 0 while it lasts and without an end."""
    last = day(ends)
    return max(0, (now - last).days) if last else 0


def forgotten(ends: str, now: date) -> bool:
    """Whether it ended so long ago that a person must decide about its data."""
    return timedelta(days=ended_for(ends, now)) > timedelta(days=KEPT_DAYS)
