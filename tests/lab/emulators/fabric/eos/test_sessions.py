# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Sessions and the dead man's timer, driven by netmiko as an operator's tool would."""

import json
import re

import pytest

from lab.emulators.fabric.cli.shows import Question
from lab.emulators.fabric.eos import sessions
from lab.emulators.fabric.eos.shows import session_list

EXEC = r"leaf1[>#]"
CHANGE = ["interface Ethernet1", "mtu 9214", "no switchport"]


def stage(connection, name="dbr-1", lines=CHANGE, **options):
    return connection.send_config_set(
        lines,
        config_mode_command=f"configure session {name}",
        exit_config_mode=False,
        error_pattern=r"^% ",
        **options,
    )


def commit(connection, timer=""):
    return connection.send_command(f"commit {timer}".strip(), expect_string=EXEC)


def state_of(leaf, name):
    return leaf.state["candidates"].get(name, {}).get("state")


def test_a_session_has_no_effect_until_it_is_committed(leaf):
    one = leaf.connect()
    stage(one)
    assert one.find_prompt() == "leaf1(config-s-dbr-1-if-Et1)#"
    diff = one.send_command("show session-config diffs")
    assert "+   mtu 9214\n+   no switchport" in diff
    assert "mtu 9214" not in leaf.running()
    assert commit(one) == ""
    assert one.find_prompt() == "leaf1#"
    assert "mtu 9214" in leaf.running()
    assert state_of(leaf, "dbr-1") == "completed"


def test_a_timed_commit_is_rolled_back_while_no_user_is_logged_in(leaf):
    one = leaf.connect()
    before = leaf.state["running"]
    stage(one)
    commit(one, "timer 00:05:00")
    one.disconnect()
    assert leaf.state["pending"]
    leaf.pass_time(301)
    leaf.wait(lambda _: "commit timer expired" in [call.get("event") for call in leaf.device.calls()])
    assert (leaf.state["running"], leaf.state["pending"]) == (before, None)


def test_a_waiting_commit_blocks_others_and_can_only_be_finished_in_one_line(leaf):
    one, two = leaf.connect(), leaf.connect()
    stage(one)
    commit(one, "timer 00:05:00")
    assert "pendingCommitTimer" in two.send_command("configure session dbr-1", expect_string=EXEC)
    stage(two, "other", ["interface Et2", "mtu 9000"])
    assert "session dbr-1 is pending commit timer" in two.send_command("commit", expect_string="#")
    assert two.find_prompt() == "leaf1(config-s-other-if-Et2)#"
    assert one.send_command("configure session dbr-1 abort") == ""
    assert "mtu 9214" not in leaf.running()
    assert commit(two) == ""
    assert "mtu 9000" in leaf.running()


def test_a_lost_session_stays_pending_and_five_are_enough(leaf):
    one = leaf.connect()
    stage(one)
    one.disconnect()
    leaf.wait(lambda state: state["candidates"]["dbr-1"]["instances"] == {})
    two = leaf.connect()
    for number in range(2, 6):
        stage(two, f"dbr-{number}")
        two.send_command("end", expect_string=EXEC)
    refused = two.send_command("configure session dbr-6", expect_string="[>#]")
    assert refused.startswith("% Maximum number of pending sessions")
    two.send_command("configure session dbr-1", expect_string=r"\)#")
    two.send_command("abort", expect_string=EXEC)
    assert two.find_prompt() == "leaf1#"
    assert state_of(leaf, "dbr-1") is None


def test_a_commit_replaces_what_others_changed_meanwhile(leaf):
    one, two = leaf.connect(), leaf.connect()
    stage(one)
    two.send_config_set(["interface Ethernet2", "description by hand"])
    assert "description by hand" in leaf.running()
    commit(one)
    assert "description by hand" not in leaf.running()


def test_links_flap_only_for_what_flaps_them(leaf):
    one = leaf.connect()
    stage(one, lines=[*CHANGE, "interface Ethernet2", "description quiet", "service-profile ROCE"])
    commit(one, "timer 00:05:00")
    flaps = {name: port["flaps"] for name, port in leaf.state["ports"].items()}
    assert (flaps["Ethernet1"], flaps["Ethernet2"]) == (1, 0)
    one.send_command("configure session dbr-1 abort")
    assert leaf.state["ports"]["Ethernet1"]["flaps"] == 2


def test_sessions_read_as_captured(leaf, transcript):
    now = 1789947315.0
    state = leaf.state
    sessions.enter(state, "clabmgr-11112222", "vty7", "admin")
    sessions.commit(state, "clabmgr-11112222", "admin", now, timer=120)
    sessions.enter(state, "clabmgr-33334444", "vty8", "admin")
    assert session_list(Question(state, {"detail": "detail"}, now + 0.5)).text + "\n" == transcript(
        "fabric/eos/sessions_detail.txt"
    )


def test_sessions_have_json(leaf):
    one = leaf.connect()
    stage(one)
    shown = json.loads(one.send_command("show configuration sessions | json"))
    assert shown["maxOpenSessions"] == 5
    assert shown["sessions"]["dbr-1"]["state"] == "pending"
    (instance,) = shown["sessions"]["dbr-1"]["instances"].values()
    assert instance["currentTerminal"] is True
    commit(one, "timer 00:05:00")
    shown = json.loads(one.send_command("show configuration sessions | json"))["sessions"]["dbr-1"]
    assert shown["state"] == "pendingCommitTimer"
    assert shown["commitBy"] - shown["completedTime"] == pytest.approx(300)


def test_the_journal_tells_reading_staging_and_writing_apart(leaf):
    one = leaf.connect()
    one.send_command("show running-config")
    stage(one)
    one.send_command("abort", expect_string=EXEC)
    assert not any(call["writes"] for call in leaf.calls())
    assert any(call["stages"] for call in leaf.calls())
    stage(one)
    commit(one, "timer 00:05:00")
    assert [call["line"] for call in leaf.calls() if call["writes"]] == ["commit timer 00:05:00"]
    typed = next(call for call in leaf.calls() if call["line"] == "mtu 9214")
    assert (typed["mode"], typed["session"], typed["user"], typed["rc"]) == ("if", "dbr-1", "admin", 0)


def test_a_session_without_a_name_gets_one(leaf):
    one = leaf.connect()
    one.send_command("configure session", expect_string=r"\)#")
    assert re.fullmatch(r"leaf1\(config-s-sess-\d\)#", one.find_prompt())
