# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.text import (
    parse,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    Config,
)

from lab.emulators.fabric.os10.tree import OS10
from tests.unit.emulated_switch import profile
from tests.unit.emulated_systems import PowerSwitch

LEAF = profile("os10", 1)
PAUSES = """
ethernet1/1/1
  Admin Mode : true
  Operstatus: true
  PFC Priorities: 3
  Total Rx PFC Frames: 0
"""


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
    ("waits", "ours"),
    [
        ("!\ntrust dscp-map ROCE\n qos-group 3 dscp 26", True),
        ("!\ninterface ethernet1/1/9\n mtu 9214\n no service-policy input type network-qos OTHER", True),
        ("!\nno wred ROCE", True),
        ("!\npolicy-map type queuing ROCE\n !\n class ROCE-Q3\n  bandwidth percent 50", True),
        ("!\ninterface ethernet1/1/9\nmtu 9214\n!\npolicy-map type queuing ROCE\n!\nclass ROCE-Q3\npause", True),
        ("!\ninterface ethernet1/1/9\n mtu 1500", False),
        ("!\ninterface ethernet1/1/9\n mtu 9214\n description to-gpu09", False),
        ("!\ninterface mgmt1/1/1\n mtu 9214", False),
        ("!\ntrust dscp-map ROCE\n qos-group 3 dscp 26\n!\nhostname other", False),
        ("no hostname leaf1", False),
    ],
)
def test_the_lines_in_the_candidate_tell_whether_a_run_left_them_or_another_user(waits: str, ours: bool) -> None:
    config, found = parsed(waits=waits), ("candidate-configuration",)
    assert (config.stale, config.foreign) == ((found, ()) if ours else ((), found))


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


def test_the_next_run_rolls_back_what_a_killed_run_left_and_the_hardware_does_not_do(os10: PowerSwitch) -> None:
    before = os10.lines()
    os10.leave_unproven()
    with os10.state() as state:
        state["stuck"] = ["ethernet1/1/2"]
    outcome = os10.converge()
    assert "ethernet1/1/2 does not pause priority 3 alone" in outcome.error
    assert outcome.error.endswith("the change was rolled back")
    assert os10.lines() == before
