# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints and the scheduler's jobs, as a user's lines and the clock make them, on a release with one stage."""

import pytest

from lab.emulators.fabric.nxos import jobs, stages
from lab.emulators.fabric.nxos.cli import Cli
from lab.emulators.fabric.nxos.language import NXOS
from lab.emulators.fabric.nxos.lines import CLOUDSCALE
from lab.emulators.fabric.switch import Refused

JOB = ("scheduler job name back", "rollback running-config checkpoint here atomic", "exit")
ARMED = ("feature scheduler", *JOB, "scheduler schedule name back", "job name back", "time start +00:00:05", "end")
NOON = 12 * 3600.0


@pytest.fixture
def state():
    return {**stages.factory("leaf1", CLOUDSCALE, 2, "10.77.1.46"), "version": "9.3(13)"}


@pytest.fixture
def admin(state):
    cli = Cli("admin", "vty3")

    def type_(*lines, now=NOON):
        return [cli.run(state, line, now) for line in lines][-1]

    return type_


def lines(state):
    return NXOS.render(state["running"])


def test_a_release_before_10_has_one_stage(admin):
    with pytest.raises(Refused, match="Invalid command"):
        admin("configure dual-stage")


def test_a_job_rolls_back_when_its_time_has_come_and_not_before(state, admin):
    admin("configure terminal", *ARMED, "checkpoint here", "configure terminal")
    assert "  time start 1970:01:01:12:05" in lines(state)
    before = lines(state)
    admin("interface e1/1", "mtu 9216", "end")
    assert state["ports"]["Ethernet1/1"]["flaps"] == 1
    assert jobs.run_due(state, NOON + 299) == ""
    assert jobs.run_due(state, NOON + 300) == "back"
    assert (lines(state), state["ports"]["Ethernet1/1"]["flaps"]) == (before, 2)
    admin("configure terminal", "interface e1/1", "mtu 9216")
    assert jobs.run_due(state, NOON + 400) == "", "once each"


def test_a_schedule_that_is_removed_runs_nothing(state, admin):
    admin("configure terminal", *ARMED, "checkpoint here", "configure terminal", "interface e1/1", "mtu 9216")
    admin("no scheduler schedule name back", "no scheduler job name back", "end", "no checkpoint here")
    assert (jobs.run_due(state, NOON + 400), state["checkpoints"]) == ("", {})
    assert "  mtu 9216" in lines(state)


def test_a_schedule_without_a_time_runs_nothing(state, admin):
    admin("configure terminal", "feature scheduler", *JOB, "scheduler schedule name back", "job name back")
    assert jobs.run_due(state, NOON) == ""


def test_without_the_feature_there_is_no_scheduler(state, admin):
    with pytest.raises(Refused, match="Invalid command"):
        admin("configure terminal", JOB[0])
    admin(*ARMED, "configure terminal", "no feature scheduler")
    assert not any(line.startswith("scheduler") for line in lines(state))


def test_a_user_rolls_back_by_hand(state, admin):
    before = lines(state)
    admin("checkpoint here", "configure terminal", "interface e1/1", "mtu 9216", "end")
    assert "completed successfully" in admin("rollback running-config checkpoint here atomic")
    assert lines(state) == before


def test_checkpoints_have_names_of_their_own_and_ten_fit(admin):
    for line in ("rollback running-config checkpoint here", "no checkpoint here"):
        with pytest.raises(Refused, match="here does not exist"):
            admin(line)
    admin(*(f"checkpoint {number}" for number in range(10)))
    with pytest.raises(Refused, match="3 already exists"):
        admin("checkpoint 3")
    with pytest.raises(Refused, match="there are 10 checkpoints"):
        admin("checkpoint other")
