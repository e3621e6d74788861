# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import DialectError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.text import (
    DIALECT,
    parse,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    CANDIDATE,
    Config,
    plan,
)

from lab.emulators.fabric.os10.tree import OS10
from tests.unit.emulated_os10 import PowerSwitch, profile
from tests.unit.emulated_switch import pass_silence

LEAF = profile(ports=1)
PAUSES = """
ethernet1/1/1
  Admin Mode : true
  Operstatus: true
  PFC Priorities: 3
  Total Rx PFC Frames: 0
"""
SAVE = "save the running configuration, so that a restart keeps it"
PROVE = "prove the change in force, which an earlier run left unproven and unsaved"
DIRTY = {
    "another class is lossless": (
        "class-map type network-qos ROCE-5",
        "match qos-group 5",
        "exit",
        "policy-map type network-qos ROCE",
        "class ROCE-5",
        "pause",
        "pfc-cos 5",
        "exit",
        "trust dscp-map ROCE",
        "qos-group 5 dscp 24-31",
        "exit",
        "interface ethernet1/1/1",
        "flowcontrol receive off",
        "priority-flow-control mode on",
        "service-policy input type network-qos ROCE",
    ),
    "others' QoS": (
        "class-map type network-qos OTHER",
        "match qos-group 5",
        "exit",
        "policy-map type network-qos OTHER",
        "class OTHER",
        "pause",
        "pfc-cos 5",
        "exit",
        "trust dot1p-map OTHER",
        "qos-group 5 dot1p 5",
        "exit",
        "system qos",
        "trust-map dot1p OTHER",
        "exit",
        "interface ethernet1/1/3",
        "description to-storage",
        "flowcontrol receive off",
        "priority-flow-control mode on",
        "service-policy input type network-qos OTHER",
        "exit",
        "interface ethernet1/1/1",
        "description to-gpu01",
        "service-policy input type network-qos OTHER",
        "trust-map dot1p OTHER",
    ),
}


def parsed(running: str = "interface ethernet1/1/1", waits: str = "", pausing: str = PAUSES) -> Config:
    return parse((running, running, waits, pausing), LEAF)


def test_storage_has_a_queue_and_a_share_of_its_own_and_other_traffic_the_rest() -> None:
    storage = Storage(priority=4, dscp=34, bandwidth_percent=30, lossless=True)
    lines = render(replace(LEAF, storage=storage)).lines()
    assert [line for line in lines if line.startswith((" qos-group", " queue"))] == [
        " qos-group 0 dscp 0-25,27-33,35-47,49-63",
        " qos-group 3 dscp 26",
        " qos-group 4 dscp 34",
        " qos-group 6 dscp 48",
        " queue 0 qos-group 0-2,5,7",
        " queue 3 qos-group 3",
        " queue 4 qos-group 4",
        " queue 6 qos-group 6",
    ]
    served = lines[lines.index("policy-map type queuing ROCE") :][:11]
    assert served[1:3] == [" class ROCE-Q0", "  bandwidth percent 20"]
    assert served[6:9] == [" class ROCE-Q4", "  bandwidth percent 30", "  random-detect ROCE"]
    assert served[9:11] == [" class ROCE-Q6", "  priority"]


@pytest.mark.parametrize(
    ("pausing", "sentence"),
    [
        ("", "ethernet1/1/1 does not pause priority 3 alone (PFC not listed, priorities none)"),
        (PAUSES.replace("Operstatus: true", "Operstatus: false"), "(PFC false, priorities 3)"),
        (PAUSES.replace("Priorities: 3", "Priorities: 3,5"), "(PFC true, priorities 3 5)"),
    ],
)
def test_hardware_that_does_not_follow_is_not_proven(pausing: str, sentence: str) -> None:
    assert parsed().unproven == ()
    assert sentence in parsed(pausing=pausing).unproven[0]


@pytest.mark.parametrize(
    "waits",
    [
        "!\ntrust dscp-map ROCE\n qos-group 3 dscp 26",
        "!\ninterface ethernet1/1/9\n mtu 9214\n no service-policy input type network-qos OTHER",
        "!\nno wred ROCE",
        "!\npolicy-map type queuing ROCE\n !\n class ROCE-Q3\n  bandwidth percent 50",
        "!\ninterface ethernet1/1/9\nmtu 9214\n!\npolicy-map type queuing ROCE\n!\nclass ROCE-Q3\nbandwidth percent 50",
    ],
)
def test_what_a_run_left_in_the_candidate_is_known_by_its_lines(waits: str) -> None:
    config = parsed(waits=waits)
    assert (config.stale, config.foreign) == (("candidate-configuration",), ())


@pytest.mark.parametrize(
    "waits",
    [
        "!\ninterface ethernet1/1/9\n mtu 1500",
        "!\ninterface ethernet1/1/9\n mtu 9214\n description to-gpu09",
        "!\ninterface mgmt1/1/1\n mtu 9214",
        "!\ntrust dscp-map ROCE\n qos-group 3 dscp 26\n!\nhostname other",
        "no hostname leaf1",
    ],
)
def test_edits_of_others_in_the_candidate_are_foreign(waits: str) -> None:
    config = parsed(waits=waits)
    assert (config.stale, config.foreign) == ((), ("candidate-configuration",))


def test_a_port_that_the_switch_lacks_is_named() -> None:
    with pytest.raises(DialectError, match=r"it has no ethernet1/1/1, which drawbridge_fabric\.switches lists"):
        parsed(running="interface ethernet1/1/1:1")


@pytest.mark.parametrize("lines", DIRTY.values(), ids=DIRTY)
def test_check_mode_predicts_the_run_and_what_is_not_ours_stays(os10: PowerSwitch, lines: tuple[str, ...]) -> None:
    os10.type(*lines)
    before = os10.lines()
    os10.journal()
    predicted = os10.converge(check=True)
    assert not any(call["writes"] or call.get("stages") for call in os10.journal())
    done = os10.converge()
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert os10.converge().steps == []
    after = os10.lines()
    assert [line for line in after if "ROCE-5" in line or "trust-map dot1p" in line] == (
        [" trust-map dot1p OTHER"] if "system qos" in lines else []
    ), "only the site's own trust of the whole switch"
    lost = [line for line in before if line not in after]
    assert [line for line in lost if "OTHER" in line or "description" in line] == []


def test_a_class_for_storage_comes_and_goes(os10: PowerSwitch) -> None:
    os10.converge()
    alone = os10.lines()
    both = replace(profile(), storage=Storage(priority=5, dscp=34, bandwidth_percent=30, lossless=True))
    for want in (both, profile()):
        predicted = os10.converge(check=True, want=want)
        done = os10.converge(want=want)
        assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
        assert os10.converge(want=want).steps == []
    assert os10.lines() == alone


@pytest.mark.parametrize(
    ("effect", "match", "words"),
    [
        ("refuse", "^lock", "refused 'lock'"),
        ("refuse", "^mtu 9214", "refused 'mtu 9214'"),
        ("refuse", "^commit", "refused 'commit'"),
        ("lie", "^mtu 9214", "interface ethernet1/1/1 lacks 'mtu 9214'"),
        ("lie", "^commit", "reported success, but the change is not in effect"),
        ("drift", "^commit", "reported success, but the change is not in effect"),
        ("hang", "^mtu 9214", "gave no answer within"),
        ("hang", "^commit", "gave no answer within"),
        ("die", "^mtu 9214", "dropped the connection"),
        ("die", "^commit", "dropped the connection"),
        ("reboot", "^mtu 9214", "dropped the connection"),
        ("reboot", "^commit", "dropped the connection"),
    ],
)
def test_a_change_that_fails_leaves_the_old_state_and_the_next_run_makes_it(
    os10: PowerSwitch, monkeypatch: pytest.MonkeyPatch, effect: str, match: str, words: str
) -> None:
    before = os10.lines()
    os10.fault(effect, match)
    if effect == "hang":
        pass_silence(monkeypatch, os10.armed)
    outcome = os10.converge()
    assert words in outcome.error
    assert outcome.error.endswith("the change was rolled back")
    assert (outcome.changed, outcome.left) == (False, outcome.steps)
    assert (os10.lines(), os10.waiting()) == (before, False)
    assert os10.converge().error == ""
    assert os10.converge().steps == []


def test_edits_of_another_user_in_the_candidate_are_left_alone(os10: PowerSwitch) -> None:
    os10.fault("stale", "^lock")
    assert "refused 'lock'" in os10.converge().error
    assert os10.waiting()
    assert os10.converge().error.endswith("on the switch with: discard")
    with os10.state() as state:
        assert " description maintenance" in OS10.render(state["candidates"]["candidate"]["tree"])


def test_a_transaction_that_did_not_begin_is_proven_like_any_other(os10: PowerSwitch) -> None:
    os10.fault("lie", "^start transaction")
    assert os10.converge().error == "", "the lines took effect one by one"
    assert os10.converge().steps == []


def test_what_a_killed_run_left_in_the_candidate_goes_before_the_next_change(os10: PowerSwitch) -> None:
    with os10.switch() as switch:
        switch.read()
        for line in ("start transaction", "configure terminal", "interface ethernet1/1/1", "mtu 9214"):
            switch._send(line)
    assert os10.waiting()
    predicted = os10.converge(check=True)
    outcome = os10.converge()
    assert (outcome.error, outcome.steps) == ("", predicted.steps)
    assert outcome.steps[0] == "abort the session candidate-configuration, which an earlier run left open"
    assert os10.converge().steps == []


def commit_and_die(os10: PowerSwitch) -> list[str]:
    """Make a switch whose change is in force, and whose run was killed before the proof; return the old state."""
    before = os10.lines()
    with os10.switch() as switch:
        steps = plan(DIALECT, switch.read(), DIALECT.render(profile()))
        switch._try_out([line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines])
    assert os10.lines() != before
    return before


def test_the_next_run_proves_and_saves_what_a_killed_run_left(os10: PowerSwitch) -> None:
    commit_and_die(os10)
    predicted = os10.converge(check=True)
    outcome = os10.converge()
    assert (outcome.error, outcome.steps) == ("", [PROVE, SAVE])
    assert outcome.steps == predicted.steps
    assert os10.lines("startup") == os10.lines()
    assert os10.converge().steps == []


def test_the_next_run_rolls_back_what_a_killed_run_left_and_the_hardware_does_not_do(os10: PowerSwitch) -> None:
    before = commit_and_die(os10)
    with os10.state() as state:
        state["stuck"] = ["ethernet1/1/2"]
    outcome = os10.converge()
    assert "ethernet1/1/2 does not pause priority 3 alone" in outcome.error
    assert outcome.error.endswith("the change was rolled back")
    assert os10.lines() == before


@pytest.mark.parametrize("effect", ["refuse", "lie"])
def test_a_change_that_is_not_saved_is_a_failure_and_the_next_run_proves_and_saves_it(
    os10: PowerSwitch, effect: str
) -> None:
    os10.fault(effect, "^write memory")
    outcome = os10.converge()
    assert (bool(outcome.error), outcome.changed) == (True, True)
    assert os10.converge().steps == [PROVE, SAVE]
    assert os10.converge().steps == []
