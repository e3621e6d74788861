# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Sessions and the dead man's timer, typed by several users. tests/unit/module_utils/fabric runs all faults."""

import json
import re

import pytest

from lab.emulators.fabric.cli.shows import Question
from lab.emulators.fabric.eos import sessions
from lab.emulators.fabric.eos.shows import session_list
from lab.emulators.fabric.eos.tree import EOS

CHANGE = ("interface Ethernet1", "mtu 9214", "no switchport")
TIMED = "commit timer 00:05:00"


@pytest.fixture
def staged(room):
    """A switch with an open session of the user admin."""
    stage(room)
    return room


def stage(room, name="dbr-1", lines=CHANGE, user="admin"):
    return room.type("enable", f"configure session {name}", *lines, user=user)


def running(room):
    """Return the lines that run, without indentation; blocks keep their order."""
    return [line.strip() for line in EOS.render(room.state["running"]) if line.strip() != "!"]


def test_a_session_has_no_effect_until_it_is_committed(staged):
    assert staged.prompt() == "leaf1(config-s-dbr-1-if-Et1)#"
    assert "+   mtu 9214\n+   no switchport" in staged.type("show session-config diffs")
    assert "mtu 9214" not in running(staged)
    assert staged.type("commit") == ""
    assert staged.prompt() == "leaf1#"
    assert "mtu 9214" in running(staged)
    assert staged.state["candidates"]["dbr-1"]["state"] == "completed"


def test_a_timed_commit_is_rolled_back_while_no_user_is_logged_in(room):
    before = room.state["running"]
    stage(room)
    room.type(TIMED)
    room.leave()
    room.switch.tick()
    assert room.state["pending"]
    room.pass_to(301)
    room.switch.tick()
    assert (room.state["running"], room.state["pending"]) == (before, None)
    assert room.device.calls()[-1]["event"] == "commit timer expired"


def test_a_waiting_commit_blocks_others_and_can_only_be_finished_in_one_line(staged):
    staged.type(TIMED)
    assert "pendingCommitTimer" in staged.type("enable", "configure session dbr-1", user="noc")
    stage(staged, "other", ("interface Et2", "mtu 9000"), "noc")
    assert "session dbr-1 is pending commit timer" in staged.type("commit", user="noc")
    assert staged.prompt("noc") == "leaf1(config-s-other-if-Et2)#"
    assert staged.type("configure session dbr-1 abort") == ""
    assert "mtu 9214" not in running(staged)
    assert staged.type("commit", user="noc") == ""
    assert "mtu 9000" in running(staged)


def test_a_lost_session_stays_pending_and_five_are_enough(staged):
    staged.leave()
    assert staged.state["candidates"]["dbr-1"]["instances"] == {}
    for number in range(2, 6):
        stage(staged, f"dbr-{number}")
        staged.type("end")
    assert staged.type("configure session dbr-6").startswith("% Maximum number of pending sessions")
    staged.type("configure session dbr-1", "abort")
    assert staged.prompt() == "leaf1#"
    assert "dbr-1" not in staged.state["candidates"]
    staged.type("configure session")
    assert re.fullmatch(r"leaf1\(config-s-sess-\d\)#", staged.prompt())


def test_a_commit_replaces_what_others_changed_meanwhile(staged):
    staged.type("enable", "configure", "interface Ethernet2", "description by hand", user="noc")
    assert "description by hand" in running(staged)
    staged.type("commit")
    assert "description by hand" not in running(staged)


def test_links_flap_only_for_what_flaps_them(room):
    stage(room, lines=(*CHANGE, "interface Ethernet2", "description quiet", "service-profile ROCE"))
    room.type(TIMED)
    assert room.flaps()[:2] == [1, 0]
    room.type("configure session dbr-1 abort")
    assert room.flaps()[:2] == [2, 0]


def test_sessions_read_as_captured(room, transcript):
    now = 1789947315.0
    state = room.state
    sessions.enter(state, "clabmgr-11112222", "vty7", "admin")
    sessions.commit(state, "clabmgr-11112222", "admin", now, timer=120)
    sessions.enter(state, "clabmgr-33334444", "vty8", "admin")
    assert session_list(Question(state, {"detail": "detail"}, now + 0.5)).text + "\n" == transcript(
        "fabric/eos/sessions_detail.txt"
    )


def test_sessions_have_json(staged):
    shown = json.loads(staged.type("show configuration sessions | json"))
    assert shown["maxOpenSessions"] == 5
    assert shown["sessions"]["dbr-1"]["state"] == "pending"
    (instance,) = shown["sessions"]["dbr-1"]["instances"].values()
    assert instance["currentTerminal"] is True
    staged.type(TIMED)
    shown = json.loads(staged.type("show configuration sessions | json"))["sessions"]["dbr-1"]
    assert shown["state"] == "pendingCommitTimer"
    assert shown["commitBy"] - shown["completedTime"] == pytest.approx(300)


def test_the_journal_tells_reading_staging_and_writing_apart(staged):
    staged.type("show running-config", "abort")
    calls = staged.device.calls()
    assert not any(call["writes"] for call in calls)
    assert any(call["stages"] for call in calls)
    stage(staged)
    staged.type(TIMED)
    calls = staged.device.calls()
    assert [call["line"] for call in calls if call["writes"]] == [TIMED]
    typed = next(call for call in calls if call["line"] == "mtu 9214")
    assert (typed["mode"], typed["session"], typed["user"], typed["rc"]) == ("if", "dbr-1", "admin", 0)


def test_a_fault_for_writers_lets_readers_pass(staged):
    staged.device.add_fault("eos", "lie")
    assert [staged.switch.fault(line) for line in ("show running-config", "write memory")] == [None, "lie"]
    assert staged.type("end", "write memory", effect="lie") == "Copy completed successfully."
    assert not any(call["writes"] for call in staged.device.calls())
