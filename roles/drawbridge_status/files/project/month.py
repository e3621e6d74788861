# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The month of a report. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple

from ..budget.period import begin, following

SHAPE = re.compile(r"(20[0-9]{2})-(0[1-9]|1[0-2])")


class Month(NamedTuple):
    """A calendar month in the time zone of this host, seen from a moment."""

    first: date
    now: datetime

    @staticmethod
    def of(text: str, now: datetime) -> Month:
        """From year-month; "" is the present one. Raises ValueError for another shape and for a month to come."""
        found = SHAPE.fullmatch(text) if text else None
        if text and not found:
            raise ValueError(f"{text}: write year and month, such as {now:%Y-%m}")
        first = date(int(found[1]), int(found[2]), 1) if found else begin("month", now.date())
        if first > now.date():
            raise ValueError(f"{text}: this month has not begun")
        return Month(first, now)

    @property
    def name(self) -> str:
        """Such as 2026-11."""
        return f"{self.first:%Y-%m}"

    @property
    def after(self) -> date:
        """The first day of the next month."""
        return following("month", self.first)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.after <= self.now.date()

    @property
    def begin(self) -> float:
        """Its begin in seconds since the epoch."""
        return _midnight(self.first)

    @property
    def end(self) -> float:
        """Its end, or now, in seconds since the epoch."""
        return _midnight(self.after) if self.over else self.now.timestamp()

    def windows(self) -> Iterator[tuple[str, str]]:
        """Begin and end of the parts whose sums are the month's, as Slurm reads times.

        Of the present month the last day is apart: slurmdbd has sums of whole days, and adds hours for the rest.
        """
        if self.over:
            yield self.first.isoformat(), self.after.isoformat()
            return
        today = self.now.date()
        if self.first < today:
            yield self.first.isoformat(), today.isoformat()
        yield today.isoformat(), (today + timedelta(days=1)).isoformat()


def _midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day).timestamp()
