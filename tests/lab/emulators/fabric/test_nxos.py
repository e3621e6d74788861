# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What NX-OS makes of lines, two-stage commits, and jobs with which a release without them goes back."""

import pytest

from tests.lab.emulators.fabric.test_changes import REFUSALS

CHANGE = ("configure dual-stage", "interface e1/1", "mtu 9216")
LOSSLESS = REFUSALS["nxos"]["first"]
NOON = 12 * 3600
JOB = ("configure terminal", "feature scheduler", "scheduler job name back")
ARMED = (*JOB, "rollback running-config checkpoint here atomic", "scheduler schedule name back", "job name back")


def test_typing_the_printed_lines_changes_nothing(room):
    room.type(*LOSSLESS)
    once = room.running()
    room.type("end", "configure terminal", *once)
    assert room.running() == once


def test_dscps_have_names_and_defaults_are_hidden(room):
    room.type(*LOSSLESS)
    assert "match dscp af31" in room.running()
    room.type("mtu 1500", "priority-flow-control mode auto", "policy-map type network-qos ROCE-NQ")
    room.type("class type network-qos c-8q-nq3", "mtu 1500", "class-map type qos match-any A", "match dscp 27")
    assert "match dscp 27" in room.running()
    assert not any("mtu" in line or "flow-control" in line for line in room.running())


def test_a_class_without_lines_shows_and_a_share_can_be_lowered_first(room):
    room.type(*LOSSLESS, "policy-map type queuing ROCE-OUT", "class type queuing c-out-8q-q4")
    assert "class type queuing c-out-8q-q4" in room.running()
    room.type("class type queuing c-out-8q-q3", "bandwidth remaining percent 40", "class type queuing c-out-8q-q4")
    assert room.type("bandwidth remaining percent 60") == ""


def test_lines_are_cached_until_the_commit_which_adds_to_what_others_changed(room):
    room.type(*CHANGE)
    room.type("configure terminal ; interface e1/2 ; description by hand ; end", user="noc")
    assert "mtu 9216" in room.type("show configuration")
    assert "mtu 9216" not in room.running()
    assert "Configuration committed by user 'admin' using Commit ID : 1000000001" in room.type("commit")
    assert {"mtu 9216", "description by hand"} <= {*room.running()}


def test_another_session_does_not_confirm(room):
    room.type(*CHANGE, "commit confirmed 300")
    room.type("configure dual-stage", "commit", user="noc")
    assert room.state["pending"]


def test_a_network_qos_policy_flaps_every_port(room):
    policy = ("policy-map type network-qos A", "class type network-qos c-8q-nq3", "pause pfc-cos 3")
    room.type("configure terminal", *policy, "interface e1/2", "mtu 9000")
    assert room.flaps() == [0, 1, 0, 0]
    room.type("system qos", "service-policy type network-qos A")
    assert room.flaps() == [1, 2, 1, 1]
    room.type("interface e1/1", "priority-flow-control mode on", "end")
    shown = room.type("terminal length 0", "show interface priority-flow-control")
    assert "Ethernet1/1        On   On  (8)" in shown
    assert "Ethernet1/2        Auto Off" in shown


class TestOneStage:
    @pytest.fixture(autouse=True)
    def noon(self, room):
        """The switch has the release 9.3, and it is noon."""
        with room.device.state() as state:
            state["version"] = "9.3(13)"
        room.pass_to(NOON)

    def test_a_job_rolls_back_once_when_its_time_has_come(self, room):
        room.type(*ARMED, "time start +00:00:05", "end", "checkpoint here", "configure terminal")
        assert "time start 1970:01:01:12:05" in room.running()
        before = room.running()
        room.type("interface e1/1", "mtu 9216", "end")
        for seconds, flaps in ((299, 1), (300, 2)):
            room.pass_to(NOON + seconds)
            room.switch.tick()
            assert room.flaps()[0] == flaps
        assert (room.running(), room.device.calls()[-1]["session"]) == (before, "back")
        room.type("configure terminal", "interface e1/1", "mtu 9216")
        room.switch.tick()
        assert "mtu 9216" in room.running()

    @pytest.mark.parametrize("removed", ["", "scheduler schedule name back", "feature scheduler"])
    def test_a_schedule_without_a_time_or_that_is_removed_runs_nothing(self, room, removed):
        room.type("checkpoint here", *ARMED, *(("time start +00:00:05", f"no {removed}") if removed else ()))
        room.type("interface e1/1", "mtu 9216", "end")
        room.pass_to(NOON + 400)
        room.switch.tick()
        assert "mtu 9216" in room.running()
        assert any(line.startswith("scheduler schedule") for line in room.running()) is not bool(removed)

    def test_a_user_rolls_back_by_hand_and_removes_the_checkpoint(self, room):
        before = room.running()
        room.type("checkpoint here", "configure terminal", "interface e1/1", "mtu 9216", "end")
        assert "completed successfully" in room.type("rollback running-config checkpoint here atomic")
        assert room.running() == before
        assert (room.type("no checkpoint here"), room.state["checkpoints"]) == ("", {})

    def test_running_config_says_when_it_last_changed(self, room):
        room.type("configure", "interface e1/1", "mtu 9000", "end")
        room.pass_to(NOON + 60)
        when = "Thu Jan  1 12:00:00 1970\n!Time: Thu Jan  1 12:01:00 1970\n"
        shown = room.type("terminal length 0", "show running-config")
        assert f"!Running configuration last done at: {when}\nversion 9.3(13) Bios" in shown
