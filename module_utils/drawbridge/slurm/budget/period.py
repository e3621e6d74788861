# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Periods of budgets: the first day of the one that has a day, and of the next one."""

from __future__ import annotations

from datetime import date

MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""The length of each kind of period. Each begins with a year or divides it."""


def begin(kind: str, day: date) -> date:
    """The first day of the period that has this day. Raises KeyError for another kind."""
    months = MONTHS[kind]
    return date(day.year, (day.month - 1) // months * months + 1, 1)


def following(kind: str, day: date) -> date:
    """The first day of the next period. Raises KeyError for another kind."""
    first = begin(kind, day)
    months = first.month - 1 + MONTHS[kind]
    return date(first.year + months // 12, months % 12 + 1, 1)
