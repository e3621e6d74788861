# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Releases with one stage: a job on the switch takes an unproven change back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos import jobs
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.lines import tree_of
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import CANDIDATE, plan

from tests.unit.emulated_nexus9 import Nexus9
from tests.unit.emulated_switch import pass_silence

NAME = "drawbridge-00c0ffee"
JOB = (f"scheduler job name {NAME}", f"  rollback running-config checkpoint {NAME} atomic")
SCHEDULE = (f"scheduler schedule name {NAME}", f"  job name {NAME}")
NOON = datetime(2026, 11, 4, 12)
CONFIRM = "no scheduler schedule"


@pytest.fixture
def nexus9(running_switch: Callable[[str], Nexus9]) -> Nexus9:
    """The switch as it left the factory, with a configuration that was saved."""
    switch = running_switch("nexus9")
    switch.reset()
    switch.type("hostname leaf1")
    switch.journal()
    return switch


def ours(switch: Nexus9) -> list[str]:
    """What runs, without the feature that stays on."""
    return [line for line in switch.lines() if line != "feature scheduler"]


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
    typed = jobs.change(NAME, seconds, ("mtu 9214",), ())
    assert typed.index(f"time start {delay}") < typed.index("mtu 9214")
    assert typed.index(f"checkpoint {NAME}") < typed.index(f"scheduler schedule name {NAME}")


def test_a_change_is_proven_over_another_session_and_the_next_run_only_reads(nexus9: Nexus9) -> None:
    nexus9.type("ntp server 192.0.2.9")
    before = nexus9.lines()
    nexus9.journal()
    predicted = nexus9.converge(check=True)
    assert not any(call["writes"] or call.get("stages") for call in nexus9.journal())
    done = nexus9.converge()
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert sum(call.get("event") == "connect" for call in nexus9.journal()) == 2
    again = nexus9.converge()
    calls = nexus9.journal()
    assert (again.error, again.changed, again.steps) == ("", False, [])
    assert not any(call["writes"] or call.get("stages") for call in calls)
    assert nexus9.lines("startup") == nexus9.lines()
    assert {*before} <= {*nexus9.lines()}
    assert "drawbridge-" not in "".join(nexus9.lines())
    with nexus9.state() as state:
        assert state["checkpoints"] == {}


@pytest.mark.parametrize(
    ("effect", "match", "words"),
    [
        ("refuse", "^feature scheduler", "refused 'feature scheduler'"),
        ("refuse", "^checkpoint", "refused 'checkpoint drawbridge-"),
        ("refuse", "^time start", "refused 'time start +00:00:0"),
        ("refuse", "dscp 26", "refused 'match dscp 26'"),
        ("die", "dscp 26", "dropped the connection"),
        ("hang", "dscp 26", "gave no answer within"),
        ("lie", "dscp 26", "reported success, but the change is not in effect"),
        ("refuse", CONFIRM, f"refused 'configure terminal ; {CONFIRM}"),
        ("drift", "^service-policy type network-qos", "reported success, but the change is not in effect"),
    ],
)
def test_a_change_that_fails_is_rolled_back_at_once(
    nexus9: Nexus9, monkeypatch: pytest.MonkeyPatch, effect: str, match: str, words: str
) -> None:
    before = ours(nexus9)
    nexus9.fault(effect, match)
    if effect == "hang":
        pass_silence(monkeypatch, nexus9.armed)
    outcome = nexus9.converge()
    assert words in outcome.error
    assert outcome.error.endswith("the change was rolled back")
    assert ours(nexus9) == before
    assert nexus9.converge().error == ""
    assert nexus9.converge().steps == []


def test_a_run_that_is_killed_leaves_a_switch_that_goes_back_by_itself(nexus9: Nexus9) -> None:
    before = ours(nexus9)
    with nexus9.switch() as switch:
        steps = plan(DIALECT, switch.read(), DIALECT.render(nexus9.profile))
        switch._try_out([line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines])
    assert (ours(nexus9) != before, nexus9.waiting()) == (True, True)
    nexus9.pass_time(600)
    predicted = nexus9.converge(check=True)
    assert predicted.steps[0].startswith("abort the session drawbridge-")
    left = [line for line in ours(nexus9) if not line.startswith("scheduler job")]
    assert (left, nexus9.waiting()) == (before, False)
    done = nexus9.converge()
    assert (done.error, done.steps, nexus9.converge().steps) == ("", predicted.steps, [])
    with nexus9.state() as state:
        assert state["checkpoints"] == {}


def test_a_change_that_an_earlier_run_left_is_proven_and_kept(nexus9: Nexus9) -> None:
    with nexus9.switch() as switch:
        steps = plan(DIALECT, switch.read(), DIALECT.render(nexus9.profile))
        switch._try_out([line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines])
    done = nexus9.converge()
    assert done.error == ""
    assert done.steps[0].startswith("confirm the session drawbridge-")
    nexus9.pass_time(600)
    assert (nexus9.converge().steps, nexus9.waiting()) == ([], False)
