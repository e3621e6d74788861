# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.commands import (
    commands,
    stops,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.lines import (
    NETWORK,
    OUTPUT,
    SYSTEM,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.text import render

from tests.unit.emulated_switch import profile

QUEUE = f"{OUTPUT}\n  class type queuing c-out-8q-q"
WANT = dict(render(profile("nxos", 1)).sections)
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
