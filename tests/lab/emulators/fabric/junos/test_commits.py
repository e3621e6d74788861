# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Candidate, lock, confirmed commits and roll-back, typed line by line by several users."""

from __future__ import annotations

import pytest

from lab.emulators.fabric.junos import commits

MTU = "set interfaces et-0/0/0 mtu 9000"
PFC = (
    "set class-of-service congestion-notification-profile X input dscp code-point 011010 pfc",
    "set class-of-service interfaces et-0/0/1 congestion-notification-profile X",
)


def mtu(room):
    return room.type("exit", "show configuration interfaces et-0/0/0 | display set | match mtu")


def test_prompts_name_the_mode(room):
    room.type("")
    assert room.prompt() == "{master:0}\nadmin@leaf1>"
    assert room.type("configure") == "Entering configuration mode"
    assert room.prompt() == "{master:0}[edit]\nadmin@leaf1#"


def test_an_edit_is_in_force_after_its_commit(room):
    room.type("configure", MTU)
    assert room.state["ports"]["et-0/0/0"]["flaps"] == 0
    assert room.type("commit") == "commit complete"
    assert mtu(room) == MTU
    assert room.state["ports"]["et-0/0/0"]["flaps"] == 1


def test_a_change_of_pfc_blocks_the_ports_that_use_the_profile(room):
    room.type("configure", *PFC, "commit")
    assert [port["blocked"] for port in room.state["ports"].values()] == [0, 1, 0, 0]
    room.type("set class-of-service congestion-notification-profile X input dscp code-point 100010 pfc", "commit")
    assert room.state["ports"]["et-0/0/1"]["blocked"] == 2


def test_all_users_edit_one_candidate_and_a_commit_takes_all_of_it(room):
    room.type("configure", MTU, user="noc")
    assert room.type("configure").endswith("changed but not committed")
    room.type("commit")
    assert mtu(room) == MTU


def test_exclusive_needs_a_candidate_without_edits_and_locks_it(room):
    room.type("configure", MTU, user="noc")
    assert room.type("configure exclusive") == "error: configuration database modified"
    room.type("rollback", user="noc")
    assert room.type("configure exclusive").startswith("warning: uncommitted changes will be discarded on exit")
    assert room.type("commit", user="noc").startswith("error: configuration database locked by")
    assert room.type("exit", "configure exclusive", user="noc").startswith("error: configuration database locked by")


def test_what_an_exclusive_terminal_leaves_uncommitted_is_dropped(room):
    room.type("configure exclusive", MTU)
    room.leave()
    assert room.type("configure", "run show configuration | display set | match mtu", user="noc") == ""
    assert room.state["candidate"] is None


def test_a_shared_candidate_stays_and_is_asked_about(room):
    room.type("configure", MTU)
    assert room.type("exit") == "The configuration has been changed but not committed"
    assert room.prompt().startswith("Exit with uncommitted changes? [yes,no]")
    assert room.type("yes") == "Exiting configuration mode"
    assert room.state["candidate"] is not None


def test_a_confirmed_commit_goes_back_when_its_minutes_are_over(room):
    answer = room.type("configure", MTU, "commit confirmed 5 comment ours")
    assert answer.startswith("commit confirmed will be automatically rolled back in 5 minutes unless confirmed")
    assert "rollback in 5mins\n    ours\n    rollback pending\n1 " in room.type("exit", "show system commit")
    room.pass_to(299)
    assert mtu(room) == MTU
    room.pass_to(301)
    assert room.type("show configuration | display set | match mtu") == ""
    history = room.type("show system commit")
    assert "by root via other" in history.splitlines()[0]
    assert "rollback pending" not in history
    assert "commit confirmed, rollback in 5mins" in history


@pytest.mark.parametrize("confirmation", ["commit", "commit check"])
def test_any_commit_keeps_what_waits(room, confirmation):
    room.type("configure", MTU, "commit confirmed 5", confirmation)
    room.pass_to(301)
    assert mtu(room) == MTU
    assert "rollback pending" not in room.type("show system commit")


def test_an_earlier_configuration_is_a_candidate_again(room):
    room.type("configure", MTU, "commit", "rollback 1", "commit")
    assert mtu(room) == ""
    assert room.type("configure", "rollback 9").startswith("error: ")


def test_what_the_check_refuses_stays_in_the_candidate(room):
    answer = room.type("configure", "set class-of-service interfaces et-0/0/0 scheduler-map X", "commit")
    assert answer.endswith("error: configuration check-out failed")
    assert room.state["pending"] is None
    assert len(room.state["history"]) == 1


def test_a_restart_leaves_nothing_that_is_not_committed_for_good(room):
    room.type("configure exclusive", MTU, "commit confirmed 5", "set interfaces et-0/0/1 mtu 9000")
    with room.switch.device.state() as state:
        commits.restart(state, 0)
    assert (room.state["pending"], room.state["candidate"], room.state["lock"]) == (None, None, None)
    assert not any("mtu" in line for line in room.state["active"])


@pytest.mark.parametrize(
    "line", ["shw", "show version | display set", "show | compare", "show interfaces et-9/0/0 extensive"]
)
def test_what_the_lab_lacks_is_an_error(room, line):
    assert room.type(line).splitlines()[-1].startswith(("unknown", "syntax error", "error"))


def test_class_of_service_of_a_port(room):
    room.type(
        "configure",
        *PFC,
        "set class-of-service classifiers dscp X import default",
        "set class-of-service interfaces et-* unit * classifiers dscp X",
        "commit",
        "exit",
    )
    answer = room.type("show class-of-service interface et-0/0/1")
    assert "Congestion-notification: Enabled, Name: X" in answer
    assert "Scheduler map: <default>" in answer
    assert "Classifier              X " in answer
    assert "Disabled" in room.type("show class-of-service interface et-0/0/0")
