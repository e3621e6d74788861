# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import date, timedelta

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.ends import (
    KEPT_DAYS,
    day,
    ended_for,
    forgotten,
    over,
)


def test_the_last_day_is_a_day_of_jobs() -> None:
    assert [over("2027-03-31", date(2027, *it)) for it in ((3, 30), (3, 31), (4, 1))] == [False, False, True]


def test_without_an_end_nothing_is_over() -> None:
    assert not over("", date(2099, 1, 1))


def test_a_day_that_no_calendar_has_is_none() -> None:
    assert day("2027-02-29") is None
    assert day("2028-02-29") == date(2028, 2, 29)


def test_days_are_counted_from_the_last_one() -> None:
    last = date(2027, 3, 31)
    assert [ended_for("2027-03-31", last + timedelta(days=it)) for it in (-1, 0, 1, 400)] == [0, 0, 1, 400]
    assert ended_for("", last) == 0


def test_data_is_kept_for_a_while_before_a_person_decides() -> None:
    last = date(2027, 3, 31)
    assert not forgotten("2027-03-31", last + timedelta(days=KEPT_DAYS))
    assert forgotten("2027-03-31", last + timedelta(days=KEPT_DAYS + 1))
    assert not forgotten("", date.max)
