# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Channel
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import DialectError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.text import (
    DIALECT,
    parse,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    CANDIDATE,
    Config,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse

from lab.emulators.fabric.nvue import revisions
from tests.unit.emulated_cumulus import Cumulus, profile
from tests.unit.emulated_switch import pass_silence

LEAF = profile(ports=1)
STATUS = {
    "congestion-control": {"min-threshold": "156.00 KB", "max-threshold": "1.43 MB", "enabled-tc": "0,3"},
    "pfc": {"pfc-priority": "3", "rx-enabled": "yes", "tx-enabled": "yes"},
}
"""Keys and values of `nv show interface swp16 qos roce status`, NVIDIA's page on RoCE."""


def parsed(
    tree: Any = None, status: Any = STATUS, revisions: Any = None, header: str = "Cumulus Linux 5.11.0"
) -> Config:
    shown = json.dumps([{"header": {"version": header}}, {"set": tree or {}}])
    ports = {"swp1": {"qos": {"roce": {"status": status}}}}
    return parse((shown, shown, json.dumps(revisions or {}), json.dumps(ports)), LEAF)


def test_a_port_has_what_several_keys_say() -> None:
    tree = {"interface": {"swp1-4": {"link": {"mtu": 9214}}, "swp1": {"qos": {"pfc-watchdog": {"state": "enabled"}}}}}
    have, want = dict(parsed(tree).sections), dict(render(LEAF).sections)
    assert have["interface swp1"] == want["interface swp1"]


def test_a_port_without_a_line_has_the_default_mtu() -> None:
    assert "   link mtu 9216" in parsed().lines()


def test_hardware_that_rounds_thresholds_to_its_cells_is_proven() -> None:
    assert parsed().unproven == ()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"pfc": {}}, "swp1 does not pause priority 3 alone (priorities none, rx none, tx none)"),
        ({"pfc": {**STATUS["pfc"], "pfc-priority": "3,5"}}, "(priorities 3,5, rx yes, tx yes)"),
        ({"pfc": {**STATUS["pfc"], "tx-enabled": "no"}}, "(priorities 3, rx yes, tx no)"),
        (
            {"congestion-control": {**STATUS["congestion-control"], "min-threshold": "200.00 KB"}},
            "swp1 marks at a min-threshold of 200.00 KB, not at 150000 bytes",
        ),
        ({"congestion-control": {}}, "swp1 marks at a min-threshold of none"),
    ],
)
def test_hardware_that_does_not_follow_is_not_proven(changed: dict[str, Any], sentence: str) -> None:
    assert sentence in parsed(status={**STATUS, **changed}).unproven[0]


def test_revisions_that_wait_are_ours_by_their_message() -> None:
    config = parsed(revisions={"4": {"state": "confirm", "message": "drawbridge-a"}, "3": {"state": "pending"}})
    assert (config.waiting, config.foreign) == ("drawbridge-a", ())
    config = parsed(revisions={"4": {"state": "confirm", "message": "upgrade"}})
    assert (config.waiting, config.foreign) == ("", ("4 (upgrade)",))


def test_a_port_that_the_switch_lacks_is_named() -> None:
    with pytest.raises(DialectError, match=r"it has no swp9, which drawbridge_fabric\.switches lists"):
        parse(("[]", "[]", "{}", "{}"), replace(LEAF, ports=("swp9",)))


def test_no_json_is_an_error_with_what_was_printed() -> None:
    with pytest.raises(DialectError, match="it printed no JSON, but 'nvued is not running'"):
        parse(("nvued is not running", "[]", "{}", "{}"), LEAF)


SAVE = "save the running configuration, so that a restart keeps it"
APPLY, CONFIRM = "^nv config apply -y", "^nv config apply --confirm-yes"
DIRTY: dict[str, tuple[str, ...]] = {
    "factory": (),
    "another class is lossless": (
        "set qos roce",
        "set qos pfc default-global switch-priority 5",
        "set qos mapping default-global dscp 26 switch-priority 5",
    ),
    "others' QoS": (
        "set qos pfc OTHER switch-priority 5",
        "set qos traffic-pool default-lossy memory-percent 40",
        "set qos mapping default-global dscp 10 switch-priority 1",
        "set interface swp3-4 qos pfc profile OTHER",
        "set interface swp1-4 description to-the-nodes",
    ),
}


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


def test_a_bond_has_the_mtu_and_its_members_the_class(cumulus: Cumulus) -> None:
    cumulus.type("set interface bond1 bond member swp1", "set interface bond1 link mtu 9000")
    want = replace(profile(), channels=(Channel("bond1", "swp1"),))
    predicted = cumulus.converge(check=True, want=want)
    done = cumulus.converge(want=want)
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert cumulus.converge(want=want).steps == []
    lines = cumulus.lines()
    assert "interface bond1 link mtu 9214" in lines
    assert "interface swp2 link mtu 9214" in lines
    assert not any(line.startswith("interface swp1 link mtu") for line in lines)
    assert "interface swp1 qos pfc-watchdog state enabled" in lines
    with cumulus.switch() as switch, pytest.raises(DeviceError, match="swp1 is in bond1, which has the MTU"):
        switch.read()


def test_buffers_of_these_switches_alone(cumulus: Cumulus) -> None:
    own = replace(profile(), cable_m=40, lossless_buffer_percent=60)
    assert cumulus.converge().error == ""
    predicted = cumulus.converge(check=True, want=own)
    done = cumulus.converge(want=own)
    assert (done.error, done.steps) == ("", predicted.steps)
    assert done.steps[0] == (
        "RoCE mode: nv set qos roce cable-length 40; nv set qos traffic-pool default-lossy memory-percent 40;"
        " nv set qos traffic-pool roce-lossless memory-percent 60"
    )
    assert cumulus.converge(want=own).steps == []
    before = cumulus.lines()
    assert cumulus.converge().steps == []
    assert cumulus.lines() == before, "without them in the intent they are the site's"
    used = Traffic({}, use=ClusterUse(frozenset(), unknown=""))
    [waits] = cumulus.converge(want=replace(own, cable_m=50), traffic=used).pending
    assert "divides the buffers of all ports anew" in waits


def test_a_change_of_roce_mode_waits_for_the_nodes_and_ports_wait_for_it(cumulus: Cumulus) -> None:
    behind = {"swp1": ["gpu01"], "swp2": ["gpu02"]}
    busy = Traffic(behind, use=ClusterUse(frozenset({"gpu01"}), unknown=""), consent="site_says_so")
    waits = cumulus.converge(traffic=busy)
    assert (waits.error, waits.changed) == ("", True)
    mode, drained_port, used_port = waits.pending
    assert "divides the buffers of all ports anew: gpu02 is not drained in Slurm; drain gpu02 and run" in mode
    assert mode.endswith("or allow it with the line: site_says_so: true")
    assert drained_port.startswith("interface swp1: ")
    assert drained_port.endswith("it needs the change of RoCE mode, which waits")
    assert used_port.startswith("interface swp2: ")
    assert not any(line.startswith(("qos roce", "interface swp1 qos")) for line in cumulus.lines())
    assert any(line.startswith("qos mapping default-global dscp 26") for line in cumulus.lines())
    drained = replace(busy, use=ClusterUse(frozenset({"gpu01", "gpu02"}), unknown=""))
    assert cumulus.converge(traffic=drained).pending == []
    assert cumulus.converge(traffic=busy).steps == []


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


@pytest.mark.parametrize(
    ("effect", "match"),
    [(effect, match) for effect in ("hang", "reboot") for match in ("dscp 26", APPLY, CONFIRM)],
)
def test_a_switch_that_falls_silent_or_restarts_in_mid_change_has_its_old_configuration(
    cumulus: Cumulus, monkeypatch: pytest.MonkeyPatch, effect: str, match: str
) -> None:
    cumulus.type("set system hostname leaf1")
    before = cumulus.lines()
    cumulus.fault(effect, match)
    if effect == "hang":
        pass_silence(monkeypatch, cumulus.armed)
    outcome = cumulus.converge()
    assert outcome.error
    assert outcome.left
    assert (cumulus.lines(), cumulus.waiting()) == (before, False)
    assert (cumulus.converge().error, cumulus.converge().steps) == ("", [])


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
