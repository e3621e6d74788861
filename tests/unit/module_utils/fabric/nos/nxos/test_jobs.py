# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Releases with one stage: a job on the switch takes an unproven change back."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos import jobs
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.lines import tree_of

from tests.unit.emulated_systems import Nexus9

NAME = "drawbridge-00c0ffee"
JOB = (f"scheduler job name {NAME}", f"  rollback running-config checkpoint {NAME} atomic")
SCHEDULE = (f"scheduler schedule name {NAME}", f"  job name {NAME}")
NOON = datetime(2026, 11, 4, 12)


@pytest.mark.parametrize(
    ("lines", "waiting"),
    [
        (JOB, False),
        ((*JOB, *SCHEDULE), False),
        ((*JOB, *SCHEDULE, "  time start 2026:11:04:12:01"), True),
        ((*JOB, *SCHEDULE, "  time start 2026:11:04:11:59"), True),
        ((*JOB, *SCHEDULE, "  time start 2026:11:04:11:58"), False),
        ((*JOB, *SCHEDULE, "  time start in a while"), True),
    ],
)
def test_a_job_waits_until_its_time_is_over_for_a_minute(lines: tuple[str, ...], waiting: bool) -> None:
    found = jobs.jobs_of(tree_of((*lines, "scheduler job name site")), NOON, timedelta(seconds=60))
    assert found == (((NAME,), ()) if waiting else ((), (NAME,)))


@pytest.mark.parametrize(("seconds", "delay"), [(360, "+00:00:06"), (93600, "+01:02:00")])
def test_the_job_is_armed_before_the_first_line(seconds: int, delay: str) -> None:
    typed = jobs.change(NAME, seconds, ("mtu 9214",), jobs.Own(scheduler=True, two_stages=False))
    assert typed.index(f"time start {delay}") < typed.index("mtu 9214")
    assert typed.index(f"checkpoint {NAME}") < typed.index(f"scheduler schedule name {NAME}")


def test_a_run_that_is_killed_leaves_a_switch_that_goes_back_by_itself(nexus9: Nexus9) -> None:
    before = nexus9.lines()
    nexus9.leave_unproven()
    assert nexus9.waiting()
    nexus9.pass_time(600)
    predicted = nexus9.converge(check=True)
    assert predicted.steps[0].startswith("abort the session drawbridge-")
    left = [line for line in nexus9.lines() if not line.startswith("scheduler job")]
    assert (left, nexus9.waiting()) == (before, False)
    done = nexus9.converge()
    assert (done.error, done.steps, nexus9.converge().steps) == ("", predicted.steps, [])
    with nexus9.state() as state:
        assert state["checkpoints"] == {}
