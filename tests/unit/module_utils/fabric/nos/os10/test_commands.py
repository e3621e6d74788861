# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lines that we type, taken by an independent reading of OS10: the lab's emulator, which never saw this code."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.commands import (
    commands,
    on_ports,
    removed_last,
    stops,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.lines import (
    MAPS,
    PAUSE,
    QUEUES,
    blocks_of,
    sections_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.text import (
    DIALECT,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    CANDIDATE,
    Config,
    plan,
    way_back,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.emulators.fabric.os10.cli import Cli
from lab.emulators.fabric.os10.transaction import factory
from lab.emulators.fabric.os10.tree import OS10
from lab.emulators.fabric.switch import Refused
from tests.unit.emulated_os10 import profile

LEAF = profile(ports=2)
WANT = render(LEAF)
ONE = "interface ethernet1/1/1"
DIRT = (
    ("trust dscp-map ROCE", "qos-group 5 dscp 20-30", "qos-group 3 dscp 40"),
    ("qos-map traffic-class ROCE", "queue 5 qos-group 3"),
    ("wred ROCE", "random-detect color red minimum-threshold 1 maximum-threshold 2 drop-probability 3"),
    ("wred ROCE", "random-detect color green minimum-threshold 1 maximum-threshold 2 drop-probability 3"),
    ("class-map type queuing ROCE-Q3", "match queue 2"),
    ("class-map type queuing ROCE-Q5", "match queue 5", "policy-map type queuing ROCE", "class ROCE-Q5", "priority"),
    ("class-map type queuing ROCE-Q3", "policy-map type queuing ROCE", "class ROCE-Q3", "bandwidth percent 90"),
    ("class-map type network-qos ROCE-5", "policy-map type network-qos ROCE", "class ROCE-5", "pause", "pfc-cos 5"),
    ("policy-map type network-qos ROCE", ONE, "service-policy input type network-qos ROCE"),
    ("policy-map type network-qos OTHER", ONE, "service-policy input type network-qos OTHER"),
    (ONE, "flowcontrol receive off", "priority-flow-control mode on"),
    (ONE, "mtu 9000", "ets mode on", "flowcontrol transmit on"),
    ("trust dot1p-map OTHER", ONE, "trust-map dot1p OTHER"),
    (ONE, "description to-gpu01", "no switchport"),
)


class Typist:
    """A switch from the factory, and someone who types."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = factory("leaf1", "xgs", 4, "10.77.1.41")
        self.cli = Cli("admin", "vty1")

    def type(self, *lines: str) -> None:
        """Type lines; all must be taken."""
        for line in lines:
            self.cli.run(self.state, line, 0.0)

    def config(self) -> Config:
        """What runs, as the dialect reads it."""
        text = "\n".join(OS10.render(self.state["running"]))
        return Config(sections_of(blocks_of(text), LEAF))


@given(st.sets(st.sampled_from(DIRT), max_size=5))
@settings(deadline=None, max_examples=40)
def test_the_lines_lead_from_any_state_to_the_wanted_one_and_the_way_back_to_the_old_one(dirt: set[Any]) -> None:
    switch = Typist()
    for lines in sorted(dirt, key=DIRT.index):
        with contextlib.suppress(Refused):  # some contradict others
            switch.type("configure terminal", *lines)
        switch.type("end")
    before, have = OS10.render(switch.state["running"]), switch.config()
    steps = plan(DIALECT, have, WANT)
    lines = tuple(line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines)
    switch.type(*DIALECT.change("", 0, lines, ()))
    assert switch.config() == WANT
    switch.type(*DIALECT.change("", 0, way_back(DIALECT, switch.config(), have), ()))
    assert OS10.render(switch.state["running"]) == before, "what is not ours never changed"


def test_only_what_differs_is_typed_and_what_goes_comes_first() -> None:
    have = ("trust dscp-map ROCE", " qos-group 0 dscp 0-23,32-63", " qos-group 3 dscp 24-31")
    want = ("trust dscp-map ROCE", " qos-group 0 dscp 0-23,32-63", " qos-group 3 dscp 26")
    assert [line.strip() for line in commands(have, want)] == [
        "trust dscp-map ROCE",
        "no qos-group 3 dscp 24-31",
        "qos-group 3 dscp 26",
    ]
    assert commands(have, have) == []


def test_ports_side_by_side_are_a_range() -> None:
    names = [f"ethernet1/1/{number}" for number in (1, 2, 3, 7)]
    assert on_ports(names, ("mtu 9214",)) == (
        "interface range ethernet1/1/1-1/1/3",
        "mtu 9214",
        "exit",
        "interface ethernet1/1/7",
        "mtu 9214",
        "exit",
    )


def test_blocks_go_after_the_lines_that_may_name_them_and_users_first() -> None:
    port = ("interface ethernet1/1/1", "no qos-map traffic-class", "exit")
    gone = ("no class-map type queuing ROCE-Q5", "no qos-map traffic-class ROCE", "no policy-map type queuing ROCE")
    assert removed_last((*gone, *port)) == (*port, gone[2], gone[0], gone[1])


@pytest.mark.parametrize(
    ("section", "have", "want", "why"),
    [
        (MAPS, ("a",), ("b",), ""),
        (QUEUES, ("a",), ("b",), ""),
        (PAUSE, (), ("b",), ""),
        (PAUSE, ("a",), ("b",), "an edit of the PFC policy moves the buffers of all its ports at once"),
        (ONE, (ONE, " mtu 1532"), (ONE, " mtu 9214"), "a new MTU takes the links of {ports} down for a moment"),
        (ONE, (ONE,), (ONE, " priority-flow-control mode on"), "a change of PFC moves the buffers of {ports}"),
        (ONE, (ONE,), (ONE, " trust-map dscp ROCE"), ""),
    ],
)
def test_what_stops_traffic(section: str, have: tuple[str, ...], want: tuple[str, ...], why: str) -> None:
    assert stops(section, have, want) == why
