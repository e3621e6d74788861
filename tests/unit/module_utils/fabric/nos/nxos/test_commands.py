# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.commands import (
    commands,
    on_ports,
    stops,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.lines import (
    NETWORK,
    OUTPUT,
    SYSTEM,
    sections_of,
    tree_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.text import render

from lab.emulators.fabric.nxos import stages
from lab.emulators.fabric.nxos.cli import Cli
from lab.emulators.fabric.nxos.language import NXOS
from lab.emulators.fabric.nxos.lines import CLOUDSCALE
from lab.emulators.fabric.switch import Refused
from tests.unit.emulated_nexus import profile

QUEUE = f"{OUTPUT}\n  class type queuing c-out-8q-q"
WANT = dict(render(profile(ports=1)).sections)
PORT = "interface Ethernet1/1"


def typed(have: str, want: str) -> list[str]:
    return commands(tuple(have.splitlines()), tuple(want.splitlines()))


def test_a_value_replaces_another() -> None:
    assert typed(f"{PORT}\n  mtu 1500", f"{PORT}\n  mtu 9214") == [PORT, "mtu 9214"]
    assert typed("priority-flow-control watch-dog-interval off", "priority-flow-control watch-dog-interval on") == [
        "priority-flow-control watch-dog-interval on"
    ]


def test_a_policy_goes_before_another_comes() -> None:
    head = f"{PORT}\n  service-policy type qos input"
    assert typed(f"{head} SITE", f"{head} ROCE-IN") == [
        PORT,
        "no service-policy type qos input SITE",
        "service-policy type qos input ROCE-IN",
    ]


def test_shares_that_shrink_come_first() -> None:
    share = "\n    bandwidth remaining percent "
    have = f"{QUEUE}1{share}50\n  class type queuing c-out-8q-q3{share}50"
    want = f"{QUEUE}1{share}80\n  class type queuing c-out-8q-q3{share}20"
    assert [line for line in typed(have, want) if "percent" in line] == [
        "bandwidth remaining percent 20",
        "bandwidth remaining percent 80",
    ]


def test_a_queue_that_becomes_strict_loses_its_share_first() -> None:
    have, want = f"{QUEUE}7\n    bandwidth percent 1", f"{QUEUE}7\n    priority level 1"
    assert typed(have, want)[2:] == ["no bandwidth percent 1", "priority level 1"]


def test_what_is_too_much_is_taken_away_with_its_block() -> None:
    extra = f"{NETWORK}\n  class type network-qos c-8q-nq4\n    pause pfc-cos 4"
    lines = commands((*extra.splitlines(), *WANT[NETWORK][1:]), WANT[NETWORK])
    assert lines == [NETWORK, "no class type network-qos c-8q-nq4"]


@pytest.mark.parametrize(
    ("section", "have", "why"),
    [
        (SYSTEM, (SYSTEM,), "all ports anew"),
        (NETWORK, (NETWORK,), "all ports anew"),
        (NETWORK, (), ""),
        (OUTPUT, (OUTPUT,), ""),
        (PORT, (PORT, "  mtu 1500"), "a new MTU takes the links of {ports} down"),
        (PORT, (PORT, "  mtu 9214"), "a change of PFC takes {ports} down"),
        (PORT, (PORT, "  mtu 9214", "  priority-flow-control mode on"), ""),
    ],
)
def test_what_interrupts_traffic_says_why(section: str, have: tuple[str, ...], why: str) -> None:
    said = stops(section, have, WANT[section])
    assert (why in said) is True
    assert bool(said) is bool(why)


def test_ports_are_typed_one_by_one() -> None:
    assert on_ports(["Ethernet1/1", "Ethernet1/2"], ("mtu 9000",)) == (
        PORT,
        "mtu 9000",
        "interface Ethernet1/2",
        "mtu 9000",
    )


LINES = (
    "class-map type qos match-all ROCE-DATA ; match dscp 24",
    "class-map type qos match-all ROCE-CNP ; match dscp 50",
    "class-map type qos match-all SITE ; policy-map type qos ROCE-IN ; class SITE ; set qos-group 5",
    "class-map type qos match-all ROCE-DATA ; policy-map type qos ROCE-IN ; class ROCE-DATA ; set qos-group 4",
    "policy-map type queuing ROCE-OUT ; class type queuing c-out-8q-q3 ; priority level 1",
    "policy-map type queuing ROCE-OUT ; class type queuing c-out-8q-q-default ; bandwidth remaining percent 90",
    "policy-map type queuing ROCE-OUT ; class type queuing c-out-8q-q7 ; bandwidth remaining percent 10",
    "policy-map type queuing ROCE-OUT ; class type queuing c-out-8q-q4 ; "
    "random-detect minimum-threshold 1 kbytes maximum-threshold 2 kbytes drop-probability 5 weight 1",
    "policy-map type network-qos ROCE-NQ ; class type network-qos c-8q-nq4 ; pause pfc-cos 4",
    "policy-map type network-qos SITE ; system qos ; service-policy type network-qos SITE",
    "policy-map type queuing SITE ; interface Ethernet1/1 ; service-policy type queuing output SITE",
    "policy-map type qos SITE ; interface Ethernet1/1 ; service-policy type qos input SITE",
    "interface Ethernet1/1 ; priority-flow-control mode off",
    "priority-flow-control watch-dog interval 500",
    "priority-flow-control auto-restore multiplier 0",
)


@pytest.mark.parametrize("seed", range(40))
def test_any_state_becomes_the_wanted_one_in_one_commit(seed: int) -> None:
    dice = random.Random(seed)
    state = stages.factory("leaf1", CLOUDSCALE, 1, "10.77.1.46")
    cli = Cli("noc", "vty9")
    for line in dice.sample(LINES, dice.randrange(len(LINES))):
        try:
            cli.run(state, f"configure terminal ; {line} ; end", 0.0)
        except Refused:
            cli.to_exec()
    storage = Storage(priority=4, dscp=34, bandwidth_percent=30, lossless=dice.random() < 0.5)
    leaf = replace(profile(ports=1), storage=dice.choice([None, storage]))
    want = dict(render(leaf).sections)
    have = dict(sections_of(tree_of(NXOS.render(state["running"])), leaf))
    cli.run(state, "configure dual-stage", 0.0)
    for name, lines in want.items():
        for line in commands(have[name], lines):
            cli.run(state, line, 0.0)
    cli.run(state, "commit", 0.0)
    assert dict(sections_of(tree_of(NXOS.render(state["running"])), leaf)) == want
