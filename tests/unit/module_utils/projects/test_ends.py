# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import date, timedelta

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.projects.ends import (
    KEPT_DAYS,
    day,
    ended_for,
    forgotten,
)

LAST = date(2027, 3, 31)


@pytest.mark.parametrize(("later", "ended"), [(-1, 0), (0, 0), (1, 1), (400, 400)])
def test_the_last_day_still_belongs_to_the_project(later: int, ended: int) -> None:
    assert ended_for("2027-03-31", LAST + timedelta(days=later)) == ended


def test_a_project_without_an_end_goes_on() -> None:
    assert ended_for("", LAST) == 0 and not forgotten("", date.max)


def test_data_is_kept_for_a_while_before_a_person_decides() -> None:
    assert not forgotten("2027-03-31", LAST + timedelta(days=KEPT_DAYS))
    assert forgotten("2027-03-31", LAST + timedelta(days=KEPT_DAYS + 1))


def test_a_day_that_no_calendar_has_is_none() -> None:
    assert day("2028-02-29") and day("2027-02-29") is None
