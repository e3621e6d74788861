# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import date, timedelta

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.budget.period import (
    MONTHS,
    begin,
    following,
)
from hypothesis import given
from hypothesis import strategies as st

KINDS = st.sampled_from([*MONTHS])
DAYS = st.dates(date(2000, 1, 1), date(2099, 12, 31))


@pytest.mark.parametrize(
    ("kind", "day", "first", "after"),
    [
        ("month", "2027-01-31", "2027-01-01", "2027-02-01"),
        ("month", "2028-02-29", "2028-02-01", "2028-03-01"),
        ("month", "2027-12-01", "2027-12-01", "2028-01-01"),
        ("quarter", "2027-03-31", "2027-01-01", "2027-04-01"),
        ("quarter", "2027-11-30", "2027-10-01", "2028-01-01"),
        ("year", "2027-12-31", "2027-01-01", "2028-01-01"),
    ],
)
def test_periods_begin_on_the_first_day_of_a_month(kind: str, day: str, first: str, after: str) -> None:
    assert begin(kind, date.fromisoformat(day)).isoformat() == first
    assert following(kind, date.fromisoformat(day)).isoformat() == after


@given(KINDS, DAYS)
def test_each_day_is_in_one_period(kind: str, day: date) -> None:
    first, after = begin(kind, day), following(kind, day)
    assert first <= day < after
    assert begin(kind, after - timedelta(days=1)) == first
    assert begin(kind, after) == after
