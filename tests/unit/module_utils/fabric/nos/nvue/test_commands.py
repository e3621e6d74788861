# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands that we type, taken by an independent reading of NVUE: the lab's emulator, which never saw this code."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.commands import (
    commands,
    on_ports,
    stops,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.lines import sections_of
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.text import render
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import PORT
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.emulators.fabric.nvue import tree
from tests.unit.emulated_cumulus import profile

LEAF = profile(ports=2)
WANT = render(LEAF)
OURS = (
    "qos roce",
    "qos roce mode lossy",
    "qos roce {off}",
    "qos mapping default-global trust l2",
    "qos mapping default-global dscp 26,48 switch-priority 5",
    "qos egress-queue-mapping default-global switch-priority 3,6 traffic-class 0",
    "qos egress-scheduler default-global traffic-class 3 mode strict",
    "qos egress-scheduler default-global traffic-class 6 mode dwrr",
    "qos egress-scheduler default-global traffic-class 0,6 bw-percent 20",
    "qos congestion-control default-global traffic-class 3 min-threshold 1000",
    "qos congestion-control default-global traffic-class 3 ecn disable",
    "qos congestion-control default-global traffic-class 3 red enable",
    "qos pfc default-global switch-priority 3,5",
    "qos pfc default-global rx disable",
    "qos pfc-watchdog robustness 7",
    "system forwarding ecmp-hash source-port off",
    "interface swp1-2 link mtu 9000",
    "interface swp2 qos pfc profile OTHER",
    "interface swp1 qos pfc-watchdog state disable",
    "interface swp2 qos pfc-watchdog",
)
FOREIGN = (
    "system hostname other",
    "qos traffic-pool roce-lossless memory-percent 60",
    "qos roce cable-length 40",
    "qos mapping default-global dscp 10 switch-priority 1",
    "qos egress-scheduler default-global traffic-class 4 mode strict",
    "qos congestion-control default-global traffic-class 0 min-threshold 40000",
    "qos pfc default-global cable-length 50",
    "qos pfc OTHER switch-priority 5",
    "interface swp1-4 description uplink",
    "interface swp3 link mtu 1500",
    "interface swp2 qos remark profile OTHER",
    "system forwarding ecmp-hash ipv6-label off",
)


def section_commands(configuration: tree.Tree) -> list[str]:
    """What a change of this configuration types."""
    have = dict(sections_of(tree.collapsed(configuration), LEAF))
    typed: list[str] = []
    for name, want in WANT.sections:
        lines = tuple(commands(have[name], want))
        typed += on_ports([name.removeprefix(PORT)], lines) if name.startswith(PORT) else lines
    return typed


def type_into(configuration: tree.Tree, lines: list[str], minor: int) -> tree.Tree:
    after = copy.deepcopy(configuration)
    for line in lines:
        program, verb, *words = line.split()
        assert program == "nv"
        if verb == "set":
            tree.set_(after, words, minor)
        else:
            tree.unset(after, words)
    return after


def values(configuration: tree.Tree) -> set[tuple[Any, ...]]:
    return {(*path, str(value)) for path, value in tree.leaves(configuration)}


@settings(deadline=None)
@given(st.sets(st.sampled_from(OURS)), st.sets(st.sampled_from(FOREIGN)), st.sampled_from([11, 16]))
def test_any_switch_becomes_what_we_want_and_keeps_what_is_not_ours(
    ours: set[str], foreign: set[str], minor: int
) -> None:
    off = "enable off" if minor < 15 else "state disabled"
    before = type_into({}, [f"nv set {line.format(off=off)}" for line in sorted([*ours, *foreign])], minor)
    after = type_into(before, section_commands(before), minor)
    assert {name: set(lines) for name, lines in sections_of(tree.collapsed(after), LEAF)} == {
        name: set(lines) for name, lines in WANT.sections
    }
    assert section_commands(after) == []
    alone = type_into({}, [f"nv set {line}" for line in sorted(foreign)], minor)
    implied = {"on", "enabled", "lossless"}  # what NVUE writes down beside a cable length
    kept = {leaf for leaf in values(alone) if leaf[-1] not in implied}
    assert kept <= values(after)


def test_ports_are_one_command_and_a_long_list_is_several() -> None:
    assert on_ports(["swp1", "swp2", "swp5"], ("set link mtu 9214",)) == ("nv set interface swp1-2,swp5 link mtu 9214",)
    assert on_ports(["swp1s0", "swp2s0"], ("unset qos pfc profile",)) == (
        "nv unset interface swp1s0,swp2s0 qos pfc profile",
    )
    assert [line.split()[3] for line in on_ports(["swp1-40"], ("set qos pfc-watchdog",))] == [
        "swp1-16",
        "swp17-32",
        "swp33-40",
    ]


@pytest.mark.parametrize(
    ("section", "have", "why"),
    [
        ("RoCE mode", ("qos roce mode lossy",), "divides the buffers"),
        ("RoCE mode", (), "divides the buffers"),
        ("interface swp1", ("interface swp1", "   link mtu 9000", "   qos pfc-watchdog"), "takes the links of {ports}"),
        ("interface swp1", ("interface swp1", "   link mtu 9214", "   qos pfc profile OTHER"), "buffers of {ports}"),
        ("interface swp1", ("interface swp1", "   link mtu 9214"), ""),
        ("ECN", (), ""),
    ],
)
def test_what_stops_traffic(section: str, have: tuple[str, ...], why: str) -> None:
    found = stops(section, have, dict(WANT.sections)[section])
    assert why in found
    assert bool(found) is bool(why)
