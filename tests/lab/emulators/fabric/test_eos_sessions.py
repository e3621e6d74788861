# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Sessions, their journal and their faults, typed by several users. tests/unit/module_utils/fabric runs all faults."""

import json
import re

import pytest

from lab.emulators.fabric.cli.shows import Question
from lab.emulators.fabric.eos import sessions
from lab.emulators.fabric.eos.cli import session_list

CHANGE = ("interface Ethernet1", "mtu 9214", "no switchport")
TIMED = "commit timer 00:05:00"


@pytest.fixture
def staged(room):
    """A switch with an open session of the user admin."""
    stage(room)
    return room


def stage(room, name="dbr-1", lines=CHANGE):
    return room.type("enable", f"configure session {name}", *lines)


def test_a_session_has_no_effect_until_it_is_committed_and_then_replaces_what_others_changed(staged):
    assert "+   mtu 9214\n+   no switchport" in staged.type("show session-config diffs")
    staged.type("enable", "configure", "interface Ethernet2", "description by hand", user="noc")
    assert ("description by hand" in staged.running(), "mtu 9214" in staged.running()) == (True, False)
    assert staged.type("commit") == ""
    assert ("description by hand" in staged.running(), "mtu 9214" in staged.running()) == (False, True)
    assert (staged.prompt(), staged.state["candidates"]["dbr-1"]["state"]) == ("leaf1#", "completed")


def test_a_lost_session_stays_pending_and_five_are_enough(staged):
    staged.leave()
    assert staged.state["candidates"]["dbr-1"]["instances"] == {}
    for number in range(2, 6):
        stage(staged, f"dbr-{number}")
        staged.type("end")
    assert staged.type("configure session dbr-6").startswith("% Maximum number of pending sessions")
    staged.type("configure session dbr-1", "abort")
    assert "dbr-1" not in staged.state["candidates"]
    staged.type("configure session")
    assert re.fullmatch(r"leaf1\(config-s-sess-\d\)#", staged.prompt())


def test_links_flap_only_for_what_flaps_them(room):
    stage(room, lines=(*CHANGE, "interface Ethernet2", "description quiet", "service-profile ROCE", "commit"))
    assert room.flaps() == [1, 0, 0, 0]


def test_sessions_read_as_captured(room, transcript):
    now = 1789947315.0
    state = room.state
    sessions.enter(state, "clabmgr-11112222", "vty7", "admin")
    sessions.commit(state, "clabmgr-11112222", "admin", now, timer=120)
    sessions.enter(state, "clabmgr-33334444", "vty8", "admin")
    shown = session_list(Question(state, {"detail": "detail"}, now + 0.5)).text
    assert f"{shown}\n" == transcript("fabric/eos/sessions_detail.txt")


def test_sessions_have_json(staged):
    staged.pass_to(60)
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
