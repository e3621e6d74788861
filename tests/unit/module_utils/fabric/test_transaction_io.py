# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The transaction, against a switch that refuses, lies, hangs, drops the line, and is changed by others."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Channel, Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.lines import blocks_of
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    CANDIDATE,
    Config,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.transaction_io import Switch
from netmiko.arista.arista import AristaSSH

from lab.emulators.fabric.eos import sessions
from tests.unit.emulated_switch import QUICK, Leaf, pass_silence, profile

CONFIRM = "^configure session .* commit"
SAVE = "save the running configuration, so that a restart keeps it"


def connections(calls: list[dict]) -> int:
    return sum(call.get("event") == "connect" for call in calls)


def assert_rolled_back(leaf: Leaf, before: list[str]) -> None:
    assert leaf.lines() == before
    assert leaf.sessions() == {}


def test_a_change_takes_two_sessions_and_the_next_run_only_reads_over_one(leaf: Leaf) -> None:
    changed = leaf.converge()
    assert (changed.error, changed.changed, changed.steps[-1]) == ("", True, SAVE)
    assert connections(leaf.journal()) == 2
    again = leaf.converge()
    calls = leaf.journal()
    assert (again.error, again.changed, again.steps) == ("", False, [])
    assert connections(calls) == 1
    assert not any(call["writes"] or call.get("stages") for call in calls)
    assert sum(call.get("line", "").startswith("show") for call in calls) == 4


@pytest.mark.parametrize("lossless", [False, True])
def test_a_class_for_storage_comes_and_changes_beside_the_gpus(leaf: Leaf, lossless: bool) -> None:
    both = replace(profile(), storage=Storage(priority=5, dscp=34, bandwidth_percent=30, lossless=lossless))
    assert not leaf.converge().error
    predicted = leaf.converge(check=True, want=both)
    done = leaf.converge(want=both)
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert leaf.converge(want=both).steps == []
    lines = leaf.lines()
    assert any(line.startswith("qos map dscp 34") and line.endswith("to traffic-class 5") for line in lines)
    assert ("   priority-flow-control priority 5 no-drop" in lines) is lossless


def test_a_port_channel_has_the_mtu_and_its_members_the_class(leaf: Leaf) -> None:
    leaf.type("interface Port-Channel7", "description to-spine1", "exit")
    leaf.type("interface Ethernet1", "channel-group 7 mode active")
    want = replace(profile(), channels=(Channel("Port-Channel7", "Ethernet1"),))
    predicted = leaf.converge(check=True, want=want)
    done = leaf.converge(want=want)
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert leaf.converge(want=want).steps == []
    blocks = blocks_of("\n".join(leaf.lines()))
    assert blocks["interface Port-Channel7"] == ["   description to-spine1", "   mtu 9214"]
    assert "   service-profile ROCE" in blocks["interface Ethernet1"]
    assert not any("mtu" in line for line in blocks["interface Ethernet1"])
    assert "   mtu 9214" in blocks["interface Ethernet2"]
    with leaf.switch() as switch, pytest.raises(DeviceError, match="Ethernet1 is in Port-Channel7, which has the MTU"):
        switch.read()


def test_ports_that_are_not_chosen_stay_as_they_are(leaf: Leaf) -> None:
    one = replace(profile(), ports=profile().ports[1:])
    assert not leaf.converge(want=one).error
    blocks = blocks_of("\n".join(leaf.lines()))
    assert blocks["interface Ethernet1"] == blocks["interface Ethernet3"], "as they left the factory"
    assert blocks["interface Ethernet2"] != blocks["interface Ethernet3"]


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ("service-profile ROCE", "'service-profile ROCE'"),
        ("commit timer", "'commit timer 00:05:00'"),
        ("^configure session", "'configure session drawbridge-"),
    ],
)
def test_a_refused_line_is_named_and_nothing_stays(leaf: Leaf, match: str, words: str) -> None:
    leaf.type("hostname leaf1")
    before = leaf.lines()
    leaf.fault("refuse", match)
    outcome = leaf.converge()
    assert f"leaf1 refused {words}" in outcome.error
    assert outcome.error.endswith("the change was rolled back")
    assert (outcome.changed, outcome.done, outcome.left) == (False, [], outcome.steps)
    assert_rolled_back(leaf, before)


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ("^mtu 9214", "interface Ethernet1 lacks 'mtu 9214'"),
        ("commit timer", "PFC watchdog lacks"),
        (CONFIRM, "still waits for confirmation"),
    ],
)
def test_a_lie_is_seen_over_a_new_session_and_rolled_back(leaf: Leaf, match: str, words: str) -> None:
    leaf.type("hostname leaf1")
    before = leaf.lines()
    leaf.fault("lie", match)
    outcome = leaf.converge()
    assert words in outcome.error
    assert (outcome.changed, outcome.left) == (False, outcome.steps)
    assert_rolled_back(leaf, before)


@pytest.mark.parametrize(
    ("effect", "match"),
    [
        ("hang", "service-profile ROCE"),
        ("hang", "commit timer"),
        ("hang", CONFIRM),
        ("die", "service-profile ROCE"),
        ("die", "commit timer"),
    ],
)
def test_a_switch_that_falls_silent_is_left_as_it_was(
    leaf: Leaf, monkeypatch: pytest.MonkeyPatch, effect: str, match: str
) -> None:
    leaf.type("hostname leaf1")
    before = leaf.lines()
    leaf.fault(effect, match)
    if effect == "hang":
        pass_silence(monkeypatch, leaf.armed)
    outcome = leaf.converge()
    assert ("gave no answer within 60 s" if effect == "hang" else "dropped the connection") in outcome.error
    assert outcome.changed is False
    assert_rolled_back(leaf, before)


def test_a_connection_that_drops_after_the_change_costs_no_time_of_the_roll_back(leaf: Leaf) -> None:
    leaf.type("hostname leaf1")
    before = leaf.lines()
    leaf.fault("die", "commit timer")
    begun = time.monotonic()
    outcome = leaf.converge(limits=replace(QUICK, answer_s=240))
    assert time.monotonic() - begun < 120
    assert "leaf1 dropped the connection at 'commit timer 00:05:00'; the change was rolled back" in outcome.error
    assert_rolled_back(leaf, before)


@pytest.mark.parametrize("match", ["service-profile ROCE", "commit timer", CONFIRM])
def test_a_switch_that_restarts_in_mid_change_has_its_old_configuration(leaf: Leaf, match: str) -> None:
    leaf.type("hostname leaf1")
    before = leaf.lines()
    leaf.fault("reboot", match)
    outcome = leaf.converge()
    assert outcome.error
    assert outcome.left
    assert_rolled_back(leaf, before)
    assert leaf.converge().error == ""
    assert leaf.converge().steps == []


DIRTY = {
    "factory": (),
    "another class is lossless": (
        *("qos profile ROCE", "priority-flow-control on", "priority-flow-control priority 5 no-drop", "exit"),
        *("interface Ethernet1", "service-profile ROCE", "priority-flow-control priority 5 no-drop", "exit"),
        "qos map dscp 26 to traffic-class 5",
    ),
    "others' QoS": (
        *("qos profile OTHER", "uc-tx-queue 1", "bandwidth percent 10", "exit"),
        *("interface Ethernet4", "service-profile OTHER", "exit"),
        *("interface Ethernet1", "description to-gpu01", "uc-tx-queue 3", "bandwidth guaranteed 100", "exit"),
        "qos map dscp 10 to traffic-class 2",
    ),
}


@pytest.mark.parametrize("dirt", DIRTY)
def test_from_every_state_one_run_converges_as_predicted_and_what_is_not_ours_stays(leaf: Leaf, dirt: str) -> None:
    leaf.type("hostname leaf1", *DIRTY[dirt])
    before = leaf.lines()
    predicted = leaf.converge(check=True)
    assert leaf.lines() == before
    done = leaf.converge()
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert leaf.converge().steps == []
    ours = ("   priority-flow-control priority 5", "qos map dscp 26 ")
    assert [line for line in before if line not in leaf.lines() and not line.startswith(ours)] == []


def test_drift_while_the_timer_runs_is_not_confirmed(leaf: Leaf) -> None:
    leaf.type("hostname leaf1")
    before = leaf.lines()
    leaf.fault("drift", "commit timer")
    outcome = leaf.converge()
    assert "leaf1 reported success, but the change is not in effect" in outcome.error
    assert_rolled_back(leaf, before)


def test_a_confirmation_whose_answer_is_lost_is_looked_up(leaf: Leaf) -> None:
    leaf.fault("die", CONFIRM)
    outcome = leaf.converge()
    assert (outcome.error, outcome.left) == ("", [])
    assert leaf.sessions() == {}


def test_drift_after_the_confirmation_is_reported(leaf: Leaf, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = Switch._keep

    def confirmed(switch: Switch, name: str, line: str, target: Config) -> None:
        keep(switch, name, line, target)
        leaf.type("interface Ethernet2", "no service-profile ROCE")

    monkeypatch.setattr(Switch, "_keep", confirmed)
    outcome = leaf.converge()
    assert outcome.error.endswith(": interface Ethernet2: service-profile ROCE")
    assert outcome.changed
    assert [step for step in outcome.left if step in outcome.done] == []


def test_a_switch_that_is_cut_off_by_the_change_rolls_back_by_itself(
    leaf: Leaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaf.type("hostname leaf1")
    before = leaf.lines()
    enable = AristaSSH.enable

    def entered(connection: AristaSSH, *args: Any) -> str:
        connection.read_timeout_override = 1  # it has no answer, however long one waits
        return enable(connection, *args)

    with leaf.switch() as switch:
        switch.read()
        leaf.fault("hang", "^enable", times=None)
        monkeypatch.setattr(AristaSSH, "enable", entered)
        outcome = converge(switch, partial(plan, DIALECT), DIALECT.render(profile()))
    assert "rolls back by itself within 300 s" in outcome.error
    assert list(leaf.sessions().values()) == ["pendingCommitTimer"]
    (leaf.keys / "clock").write_text("301")
    leaf.fault("hang", "nothing")
    monkeypatch.setattr(AristaSSH, "enable", enable)
    assert leaf.converge(check=True).steps
    assert_rolled_back(leaf, before)


@pytest.mark.parametrize("effect", ["refuse", "lie"])
def test_a_change_that_is_not_saved_is_a_failure_and_the_next_run_saves_it(leaf: Leaf, effect: str) -> None:
    leaf.fault(effect, "write memory")
    outcome = leaf.converge()
    assert outcome.error
    assert (outcome.changed, outcome.left) == (True, [SAVE])
    again = leaf.converge()
    assert (again.error, again.steps) == ("", [SAVE])
    assert leaf.converge().steps == []


def test_a_session_that_appears_in_between_is_named(leaf: Leaf) -> None:
    leaf.fault("stale", "commit timer")
    outcome = leaf.converge()
    assert "another session maintenance is pending commit timer" in outcome.error
    assert leaf.sessions() == {"maintenance": "pendingCommitTimer"}


def test_what_an_earlier_run_left_open_is_aborted(leaf: Leaf) -> None:
    leaf.converge()
    leaf.change(lambda state: sessions.enter(state, "drawbridge-dead", "vty9", "admin"))
    leaf.change(lambda state: sessions.leave(state, "vty9"))
    outcome = leaf.converge()
    assert (outcome.error, outcome.steps) == (
        "",
        ["abort the session drawbridge-dead, which an earlier run left open"],
    )
    assert leaf.sessions() == {}
    assert leaf.converge().steps == []


def wait_unconfirmed(leaf: Leaf) -> None:
    """Make a switch whose change is in force, and whose run ended before it confirmed."""
    with leaf.switch() as switch:
        steps = plan(DIALECT, switch.read(), DIALECT.render(profile()))
        switch._try_out([line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines])
    assert list(leaf.sessions().values()) == ["pendingCommitTimer"]


def test_a_right_change_that_an_earlier_run_left_unconfirmed_is_proven_and_confirmed(leaf: Leaf) -> None:
    wait_unconfirmed(leaf)
    predicted = leaf.converge(check=True)
    outcome = leaf.converge()
    assert outcome.error == ""
    assert outcome.steps == predicted.steps
    assert outcome.steps[0].startswith("confirm the session drawbridge-")
    assert leaf.sessions() == {}
    assert leaf.converge().steps == []


def test_another_change_waits_until_the_switch_has_rolled_an_unconfirmed_one_back(leaf: Leaf) -> None:
    wait_unconfirmed(leaf)
    want = replace(profile(), mtu_bytes=9100)
    leaf.journal()
    waits = leaf.converge(want=want)
    assert (waits.error, waits.changed, waits.steps) == ("", False, [])
    assert all("when it is rolled back" in sentence for sentence in waits.pending)
    assert not any(call["writes"] or call.get("stages") for call in leaf.journal())
    (leaf.keys / "clock").write_text("301")
    predicted = leaf.converge(check=True, want=want)
    done = leaf.converge(want=want)
    assert (done.error, done.steps) == ("", predicted.steps)
    assert leaf.converge(want=want).steps == []


def test_a_port_that_the_switch_does_not_have_is_refused_before_anything_is_typed(leaf: Leaf) -> None:
    with (
        leaf.switch(want=replace(profile(), ports=("Ethernet1", "Ethernet33"))) as switch,
        pytest.raises(DeviceError, match="leaf1: it has no Ethernet33, which drawbridge_fabric"),
    ):
        switch.read()
    assert not any(call["writes"] for call in leaf.journal())
