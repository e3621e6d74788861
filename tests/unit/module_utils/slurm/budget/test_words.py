# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import date

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.budget import words
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.budget.usage import Minutes, Usage

DAY = date(2027, 3, 31)
PB = Usage("pb", 1.0, {"gres/gpu": Minutes(30000, 28806, 600), "cpu": Minutes(-1, 7)})


def test_a_budget_has_its_numbers_and_its_next_day() -> None:
    assert words.waits("QOSGrpGRESMinutes", "pb", PB, "quarter", DAY) == (
        "its time limit does not fit into the budget of QOS pb: 480.1 of 500 GPU hours are used, and running jobs"
        " may use 10 more, so 9.9 are left; it begins anew on 2027-04-01. A shorter --time may fit"
    )


def test_without_numbers_or_a_period_the_rest_is_said() -> None:
    said = "its time limit does not fit into the budget of QOS pb; it does not begin anew. A shorter --time may fit"
    assert words.waits("QOSGrpGRESMinutes", "pb", None, "", DAY) == said
    assert words.waits("QOSGrpCPUMinutesLimit", "pb", PB, "", DAY) == said


def test_other_reasons_are_others() -> None:
    assert words.waits("QOSMaxGRESPerUser", "pb", PB, "month", DAY) == ""
    assert "closed or has ended" in words.REASONS["AssocGrpSubmitJobsLimit"]
    assert not set(words.REASONS) & set(words.RESOURCES)


@pytest.mark.parametrize(("minutes", "said"), [(0, "0"), (5, "0"), (6, "0.1"), (59, "0.9"), (60, "1"), (6001, "100")])
def test_hours_are_rounded_down(minutes: int, said: str) -> None:
    assert words.hours(minutes) == said


def test_a_period_of_a_newer_version_is_none() -> None:
    assert [words.period({"pb": kind}, "pb") for kind in ("month", "week")] == ["month", ""]
    assert words.period({}, "pb") == ""
