# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.text import (
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse

from tests.unit.emulated_nexus import Nexus, profile
from tests.unit.emulated_switch import pass_silence

SAVE = "save the running configuration, so that a restart keeps it"
COMMIT, CONFIRM, UNMARK = "^commit confirmed", "^commit$", "^no class-map"
DIRTY = {
    "another class is lossless": (
        "policy-map type network-qos SITE-NQ",
        "class type network-qos c-8q-nq4",
        "pause pfc-cos 4",
        "system qos",
        "service-policy type network-qos SITE-NQ",
        "interface Ethernet1/1",
        "priority-flow-control mode on",
    ),
    "others' QoS": (
        "class-map type qos match-any SITE",
        "match dscp 10,12",
        "policy-map type qos SITE-IN",
        "class SITE",
        "set qos-group 1",
        "policy-map type queuing SITE-HEADROOM",
        "class type queuing c-in-q3",
        "pause buffer-size 27456 pause-threshold 12480 resume-threshold 12480",
        "interface Ethernet1/1",
        "service-policy type queuing input SITE-HEADROOM",
        "description to-the-nodes",
        "interface Ethernet1/3",
        "service-policy type qos input SITE-IN",
    ),
}
OURS = ("class-map type qos match-all ROCE-", "policy-map type queuing ROCE-OUT", "system qos service-policy")


def test_storage_has_a_share_of_its_own_and_other_traffic_the_rest() -> None:
    storage = Storage(priority=4, dscp=34, bandwidth_percent=30, lossless=True)
    lines = render(replace(profile(ports=1), storage=storage)).lines()
    text = "\n".join(lines)
    assert "  class ROCE-STORAGE\n    set qos-group 4" in text
    assert "  class type queuing c-out-8q-q4\n    bandwidth remaining percent 30\n    random-detect" in text
    assert "  class type queuing c-out-8q-q-default\n    bandwidth remaining percent 20" in text
    assert "    pause pfc-cos 4" in lines


def test_a_change_is_proven_over_another_session_before_the_first_one_confirms(nexus: Nexus) -> None:
    assert nexus.converge().error == ""
    calls = [(call["vty"], call["line"]) for call in nexus.journal() if "line" in call]
    tried = next(at for at, (_, line) in enumerate(calls) if line.startswith("commit confirmed 300"))
    confirmed = calls.index((calls[tried][0], "commit"))
    between = calls[tried + 1 : confirmed]
    assert "show running-config" in [line for _, line in between]
    assert {vty for vty, _ in between}.isdisjoint({calls[tried][0]})


@pytest.mark.parametrize("lines", DIRTY.values(), ids=DIRTY)
def test_check_mode_predicts_the_run_and_what_is_not_ours_stays(nexus: Nexus, lines: tuple[str, ...]) -> None:
    nexus.type(*lines)
    before = nexus.lines()
    nexus.journal()
    predicted = nexus.converge(check=True)
    assert not any(call["writes"] or call.get("stages") for call in nexus.journal())
    done = nexus.converge()
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert nexus.converge().steps == []
    assert [line for line in before if line not in nexus.lines() and not line.startswith(OURS)] == []


def test_a_change_of_network_qos_waits_for_all_nodes_of_the_switch_and_ports_wait_for_it(nexus: Nexus) -> None:
    behind = {"Ethernet1/1": ["gpu01"], "Ethernet1/2": ["gpu02"]}
    busy = Traffic(behind, use=ClusterUse(frozenset({"gpu01"}), unknown=""), consent="site_says_so")
    waits = nexus.converge(traffic=busy)
    assert (waits.error, waits.changed) == ("", True)
    system, drained_port, used_port = waits.pending
    assert "divides the buffers of all ports anew: gpu02 is not drained in Slurm; drain gpu02 and run" in system
    assert system.endswith("or allow it with the line: site_says_so: true")
    assert drained_port.startswith("interface Ethernet1/1: ")
    assert drained_port.endswith("it needs the change of system qos, which waits")
    assert used_port.startswith("interface Ethernet1/2: ")
    assert not any(line.startswith(("system qos service", "interface Ethernet1/1 mtu")) for line in nexus.lines())
    assert any(line.startswith("policy-map type network-qos ROCE-NQ") for line in nexus.lines())
    drained = replace(busy, use=ClusterUse(frozenset({"gpu01", "gpu02"}), unknown=""))
    assert nexus.converge(traffic=drained).pending == []
    assert nexus.converge(traffic=busy).steps == []
    larger = replace(profile(), mtu_bytes=9216)
    (policy, *_) = nexus.converge(want=larger, traffic=busy).pending
    assert policy.startswith("policy-map type network-qos ROCE-NQ: ")


@pytest.mark.parametrize(
    ("effect", "match", "words"),
    [
        ("refuse", "dscp 26", "refused 'match dscp 26'"),
        ("refuse", COMMIT, "refused 'commit confirmed 300': Failed"),
        ("lie", COMMIT, "reported success, but the change is not in effect"),
        ("die", "dscp 26", "dropped the connection"),
        ("hang", "dscp 26", "gave no answer within"),
        ("reboot", "dscp 26", "dropped the connection"),
        ("reboot", COMMIT, "dropped the connection"),
        ("stale", COMMIT, "refused 'commit confirmed 300'"),
    ],
)
def test_a_change_that_fails_is_rolled_back_and_the_next_run_makes_it(
    nexus: Nexus, monkeypatch: pytest.MonkeyPatch, effect: str, match: str, words: str
) -> None:
    nexus.type("hostname leaf1")
    before = nexus.lines()
    nexus.fault(effect, match)
    if effect == "hang":
        pass_silence(monkeypatch, nexus.armed)
    outcome = nexus.converge()
    assert words in outcome.error
    assert (outcome.changed, outcome.left) == (False, outcome.steps)
    nexus.pass_time(3601)
    assert nexus.converge(check=True).steps == outcome.steps
    assert (nexus.lines(), nexus.waiting()) == (before, False)
    assert nexus.converge().error == ""
    assert nexus.converge().steps == []


@pytest.mark.parametrize(("effect", "match"), [("die", CONFIRM), ("refuse", CONFIRM), ("die", UNMARK), ("die", COMMIT)])
def test_where_it_is_not_known_whether_a_change_was_confirmed_the_next_run_waits(
    nexus: Nexus, effect: str, match: str
) -> None:
    nexus.type("hostname leaf1")
    before = nexus.lines()
    nexus.fault(effect, match)
    outcome = nexus.converge()
    assert outcome.error.endswith("if it is in force, it rolls back by itself within 300 s")
    waits = nexus.converge()
    assert (waits.error, waits.changed, waits.steps) == ("", False, [])
    assert "of an earlier run is in force, unconfirmed; run this again in some minutes" in waits.pending[0]
    confirmed = not nexus.waiting()
    nexus.pass_time(400)
    assert nexus.converge(check=True).error == ""
    assert (nexus.lines() == before) is not confirmed
    done = nexus.converge()
    assert done.error == ""
    assert nexus.converge().steps == []
    assert nexus.lines("startup") == nexus.lines()
    assert not any("drawbridge-" in line for line in nexus.lines())


@pytest.mark.parametrize(("effect", "match"), [("lie", "dscp 26"), ("drift", COMMIT)])
def test_a_change_that_is_not_proven_stays_until_its_time_is_over(nexus: Nexus, effect: str, match: str) -> None:
    nexus.type("hostname leaf1")
    before = nexus.lines()
    nexus.fault(effect, match)
    outcome = nexus.converge()
    assert "reported success, but the change is not in effect" in outcome.error
    assert outcome.error.endswith("if it is in force, it rolls back by itself within 300 s")
    assert "unconfirmed, with other lines; run this again in some minutes" in nexus.converge().pending[0]
    nexus.pass_time(301)
    assert nexus.converge(check=True).steps
    assert nexus.lines() == before
    assert nexus.converge().error == ""
    assert nexus.converge().steps == []


def test_a_mark_that_another_user_saved_does_not_survive_the_next_save(nexus: Nexus) -> None:
    assert nexus.converge().error == ""
    nexus.type("class-map type qos match-all drawbridge-00c0ffee-300")
    nexus.pass_time(400)
    outcome = nexus.converge()
    assert outcome.steps == ["abort the session drawbridge-00c0ffee-300, which an earlier run left open", SAVE]
    assert nexus.lines("startup") == nexus.lines()
    assert nexus.converge().steps == []
