# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The same transaction with NVUE's revisions, against a switch that refuses, lies, drops the line, and is changed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import CANDIDATE, plan

from lab.emulators.fabric.nvue import revisions
from tests.unit.emulated_cumulus import Cumulus, profile

SAVE = "save the running configuration, so that a restart keeps it"
APPLY, CONFIRM = "^nv config apply -y", "^nv config apply --confirm-yes"
DIRTY = {
    "another class is lossless": (
        "set qos roce",
        "set qos pfc default-global switch-priority 5",
        "set qos mapping default-global dscp 26 switch-priority 5",
    ),
    "half a profile": (
        "set qos roce mode lossy",
        "set qos egress-scheduler default-global traffic-class 6 mode strict",
        "set interface swp2 link mtu 9214",
    ),
    "others' QoS": (
        "set qos pfc OTHER switch-priority 5",
        "set qos traffic-pool default-lossy memory-percent 40",
        "set qos mapping default-global dscp 10 switch-priority 1",
        "set interface swp3-4 qos pfc profile OTHER",
        "set interface swp1-4 description to-the-nodes",
    ),
}


def test_a_change_takes_two_sessions_and_the_next_run_only_reads_over_one(cumulus: Cumulus) -> None:
    changed = cumulus.converge()
    assert (changed.error, changed.changed, changed.steps[-1]) == ("", True, SAVE)
    assert sum(call.get("event") == "connect" for call in cumulus.journal()) == 2
    again = cumulus.converge()
    calls = cumulus.journal()
    assert (again.error, again.changed, again.steps) == ("", False, [])
    assert sum(call.get("event") == "connect" for call in calls) == 1
    assert not any(call["writes"] or call.get("stages") for call in calls)
    assert sum("line" in call for call in calls) == 4
    assert cumulus.lines("startup") == cumulus.lines()


@pytest.mark.parametrize("lines", DIRTY.values(), ids=DIRTY)
def test_check_mode_predicts_the_run_and_what_is_not_ours_stays(cumulus: Cumulus, lines: tuple[str, ...]) -> None:
    cumulus.type(*lines)
    before = cumulus.lines()
    cumulus.journal()
    predicted = cumulus.converge(check=True)
    assert not any(call["writes"] or call.get("stages") for call in cumulus.journal())
    done = cumulus.converge()
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert cumulus.converge().steps == []
    ours = ("qos roce mode", "qos pfc default-global", "qos mapping default-global dscp 26 ")
    lost = [line for line in before if line not in cumulus.lines() and not line.startswith(ours)]
    assert lost == []


def test_a_change_of_roce_mode_needs_consent(cumulus: Cumulus) -> None:
    refused = cumulus.converge(options={"variables": {"may_flap_ports": "site_says_so"}})
    assert "divides the buffers of all ports anew; drain the nodes behind them and add the line" in refused.error
    assert not any(call["writes"] for call in cumulus.journal())


@pytest.mark.parametrize(
    ("effect", "match", "words"),
    [
        ("refuse", "dscp 26", "refused 'nv set qos mapping default-global dscp 26 switch-priority 3'"),
        ("refuse", APPLY, "refused 'nv config apply -y --confirm 300s"),
        ("lie", "dscp 26", "traffic classes lacks 'qos mapping default-global dscp 26 switch-priority 3'"),
        ("lie", APPLY, "reported success, but the change is not in effect"),
        ("lie", CONFIRM, "still waits for confirmation"),
        ("drift", APPLY, "reported success, but the change is not in effect"),
        ("die", "dscp 26", "dropped the connection"),
        ("stale", APPLY, "is waiting for confirmation"),
    ],
)
def test_a_change_that_fails_is_rolled_back_and_the_next_run_makes_it(
    cumulus: Cumulus, effect: str, match: str, words: str
) -> None:
    cumulus.type("set system hostname leaf1")
    before = cumulus.lines()
    cumulus.fault(effect, match)
    outcome = cumulus.converge()
    assert words in outcome.error
    assert (outcome.changed, outcome.left) == (False, outcome.steps)
    assert [line for line in cumulus.lines() if not line.endswith("description maintenance")] == before
    assert cumulus.waiting() is (effect == "stale"), "another user's revision is left alone"
    if effect == "stale":
        refused = cumulus.converge()
        assert refused.error.endswith("on the switch with: nv config apply --confirm-no")
        (cumulus.keys / "clock").write_text("3601")
    assert cumulus.converge().error == ""
    assert cumulus.converge().steps == []


def wait_unconfirmed(cumulus: Cumulus) -> None:
    """Make a switch whose change is in force, and whose run was killed before it confirmed."""
    with cumulus.switch() as switch:
        steps = plan(DIALECT, switch.read(), DIALECT.render(profile()))
        switch._try_out([line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines])
    assert cumulus.waiting()


def test_a_run_that_is_killed_leaves_a_switch_that_goes_back_by_itself(cumulus: Cumulus) -> None:
    cumulus.type("set system hostname leaf1")
    before = cumulus.lines()
    wait_unconfirmed(cumulus)
    assert cumulus.lines() != before
    (cumulus.keys / "clock").write_text("301")
    assert cumulus.converge(check=True).steps
    assert (cumulus.lines(), cumulus.waiting()) == (before, False)


def test_a_right_change_that_a_killed_run_left_is_confirmed(cumulus: Cumulus) -> None:
    wait_unconfirmed(cumulus)
    outcome = cumulus.converge()
    assert (outcome.error, outcome.steps[0].split(",")[0][:31]) == ("", "confirm the session drawbridge-")
    assert cumulus.converge().steps == []


def test_edits_that_a_killed_run_left_are_not_part_of_the_next_change(cumulus: Cumulus) -> None:
    with cumulus.state() as state:
        revisions.edit(state, "admin", "set", ["interface", "swp4", "link", "mtu", "1500"])
    assert cumulus.converge().error == ""
    assert not any(line.startswith("interface swp4 link mtu") for line in cumulus.lines())


def test_where_nothing_is_saved_by_itself_the_run_saves(cumulus: Cumulus) -> None:
    cumulus.type("set system config auto-save state disabled")
    cumulus.fault("lie", "^nv config save")
    outcome = cumulus.converge()
    assert (bool(outcome.error), outcome.left) == (True, [SAVE])
    assert cumulus.converge().steps == [SAVE]
    assert cumulus.converge().steps == []


def test_a_port_that_the_switch_does_not_have_is_refused_before_anything_is_typed(cumulus: Cumulus) -> None:
    with (
        cumulus.switch(want=replace(profile(), ports=("swp1", "swp33"))) as switch,
        pytest.raises(DeviceError, match="leaf1: it has no swp33, which drawbridge_fabric"),
    ):
        switch.read()
    assert not any(call["writes"] for call in cumulus.journal())
