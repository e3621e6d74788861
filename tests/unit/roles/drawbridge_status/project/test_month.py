# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The month of a report."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from roles.drawbridge_status.files.project.month import Month
from tests.unit.roles.drawbridge_status.project.project_scene import NOW


def test_a_month_that_is_over_is_one_window() -> None:
    found = Month.of("2026-02", NOW)
    assert [*found.windows()] == [("2026-02-01", "2026-03-01")]
    assert (found.name, found.over, found.after) == ("2026-02", True, date(2026, 3, 1))
    assert found.end == datetime(2026, 3, 1).timestamp()


def test_the_present_month_ends_now() -> None:
    found = Month.of("", NOW)
    assert (found.name, found.over, found.end) == ("2026-11", False, NOW.timestamp())
    assert [*found.windows()] == [("2026-11-01", "2026-11-29"), ("2026-11-29", "2026-11-30")]
    assert Month.of("2026-11", NOW) == found


def test_its_first_day_has_no_days_before() -> None:
    assert [*Month.of("", datetime(2026, 12, 1, 0, 5)).windows()] == [("2026-12-01", "2026-12-02")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("2026-13", "write year and month, such as 2026-11"), ("11", "write year"), ("2026-12", "has not begun")],
)
def test_no_month(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Month.of(text, NOW)
