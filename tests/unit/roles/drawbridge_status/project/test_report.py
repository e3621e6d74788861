# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Sums, waits and the largest jobs of a month."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest

from roles.drawbridge_status.files.project import slurm_text
from roles.drawbridge_status.files.project.month import Month
from roles.drawbridge_status.files.project.report import MOST, Report, Top, Wait
from roles.drawbridge_status.files.project.slurm_text import Hours, Run
from tests.unit.roles.drawbridge_status.project.project_scene import NOW, sections, seen

NOVEMBER, OCTOBER = Month.of("", NOW), Month.of("2026-10", NOW)
AT = datetime(2026, 11, 1, tzinfo=timezone.utc).timestamp()
HOUR = 3600.0


def recorded(month: Month) -> Report:
    hours = {"ada": Hours(54.0, 49.5, 7.5), "ben": Hours(65.5, 65.5, 9.5)}
    return Report(seen(), month, hours, slurm_text.parsed_runs(sections("24.11")["cleo sacct"]))


def run(number: int, wait: float = 0.0, start: float = AT, hours: float = 1.0, gpus: int = 1) -> Run:
    return Run(str(number), "ada", "COMPLETED", start - wait, start, start + HOUR * hours, gpus)


def report(*runs: Run, month: Month = NOVEMBER) -> Report:
    return Report(seen(), month, {}, runs)


def test_the_largest_jobs_are_those_that_sreport_adds_up() -> None:
    """sacct's runs, cut at the month's ends, are sreport's hours."""
    found = recorded(NOVEMBER)
    assert found.total == Hours(119.5, 115.0, 17.0)
    assert sum(it.gpu_hours for it in found.top) == 119.5
    assert found.top[0] == Top("3", "ben", "COMPLETED", 16, 64.0, 4 * HOUR)
    assert found.jobs == {"ben": 4, "ada": 2}
    assert replace(found, month=OCTOBER).top == [Top("3", "ben", "COMPLETED", 16, 32.0, 2 * HOUR)]


def test_a_job_that_runs_counts_up_to_now() -> None:
    found = report(Run("1", "ada", "RUNNING", AT, NOW.timestamp() - HOUR, 0.0, 2))
    assert found.top[0].gpu_hours == pytest.approx(2.0)


def test_all_runs_of_a_requeued_job_are_one_job() -> None:
    [top] = report(run(1, hours=1), run(1, start=AT + 5 * HOUR, hours=2)).top
    assert (top.gpu_hours, top.ran_s) == (3.0, 3 * HOUR)
    assert report(run(1), run(1, start=AT + 5 * HOUR)).jobs == {"ada": 1}


def test_ten_jobs_are_named_and_none_without_gpus() -> None:
    found = report(*(run(number, hours=number) for number in range(1, MOST + 3)), run(99, gpus=0, hours=50))
    assert [it.job for it in found.top] == [str(number) for number in range(MOST + 2, 2, -1)]


def test_waits_are_those_of_runs_that_began_in_the_month() -> None:
    before = run(0, wait=9000.0, start=AT - HOUR)
    found = report(before, *(run(number, wait=float(number)) for number in range(1, 101)))
    assert found.wait == Wait(100, 50.0, 95.0)
    assert report(run(1, wait=7.0)).wait == Wait(1, 7.0, 7.0)
    assert report(run(1, wait=1.0), run(2, wait=3.0)).wait == Wait(2, 1.0, 3.0)
    assert report(before).wait is None
    assert report(run(1, wait=7.0), month=OCTOBER).wait is None


def test_a_job_that_never_could_start_has_no_wait() -> None:
    assert report(Run("1", "ada", "PENDING", AT, 0.0, 0.0, 0)).wait is None
    assert report(Run("1", "ada", "PENDING", AT, 0.0, 0.0, 0)).jobs == {}


def test_the_budget_of_the_present_month_is_slurmctlds() -> None:
    [part] = recorded(NOVEMBER).budget
    assert (part.used, part.limit) == (60, 6000)


def test_the_budget_of_a_month_that_is_over_is_that_of_its_hours() -> None:
    october = recorded(OCTOBER)
    assert [part.used for part in october.budget] == [round(60 * 119.5)]
    assert [part.used for part in replace(october, only_own=True).budget] == [None]
    assert [part.used for part in replace(october, hours=None).budget] == [None]
    quarter = replace(october, seen=seen(budget={"gpu_hours": 100, "period": "quarter"}))
    assert [part.used for part in quarter.budget] == [None]
    nodes = replace(october, seen=seen(budget={"node_hours": 100, "cpu_hours": 1, "period": "month"}))
    assert [(part.name, part.used) for part in nodes.budget] == [("CPU hours", 6900), ("node hours", 1020)]


def test_what_slurm_did_not_say_is_not_zero() -> None:
    silent = Report(seen(), NOVEMBER, None, None)
    assert (silent.total, silent.jobs, silent.wait, silent.top) == (None, None, None, [])
