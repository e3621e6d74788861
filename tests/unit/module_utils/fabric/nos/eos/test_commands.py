# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lines that we type, taken by an independent reading of EOS: the lab's emulator, which never saw this code."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.commands import (
    commands,
    stops,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import parse, render
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.emulators.fabric.cli.tree import Node
from lab.emulators.fabric.eos import sessions
from lab.emulators.fabric.eos.tree import EOS
from lab.emulators.fabric.switch import Refused
from tests.unit.emulated_switch import profile

LEAF = profile(ports=2)
WANT = render(LEAF)
TYPED = {
    (): (
        "qos map dscp 26 to traffic-class 5",
        "qos map dscp 24 26 48 to traffic-class 2",
        "qos map traffic-class 3 to tx-queue 4",
        "priority-flow-control pause watchdog default timeout 5",
        "priority-flow-control pause watchdog default polling-interval 0.05",
        "priority-flow-control pause watchdog action no-drop",
        "hostname other",
    ),
    ("interface Ethernet1",): (
        "description spine1",
        "mtu 9000",
        "no switchport",
        "qos trust cos",
        "no qos trust",
        "service-profile OTHER",
        "priority-flow-control on",
        "priority-flow-control priority 5 no-drop",
    ),
    ("interface Ethernet2", "uc-tx-queue 3"): ("bandwidth guaranteed 100", "random-detect ecn count"),
    ("qos profile ROCE",): ("qos trust cos", "priority-flow-control priority 4 no-drop"),
    ("qos profile ROCE", "uc-tx-queue 3"): (
        "priority strict",
        "bandwidth percent 20",
        "random-detect ecn minimum-threshold 1 kbytes maximum-threshold 2 kbytes max-mark-probability 3 weight 4",
    ),
    ("qos profile ROCE", "uc-tx-queue 6"): ("no priority", "bandwidth percent 30"),
    ("qos profile ROCE", "uc-tx-queue 1"): ("bandwidth percent 10",),
}
CHOICES = [(path, line) for path, lines in TYPED.items() for line in lines]


def type_into(running: Node, lines: list[str]) -> None:
    """As a person would: a line that the open block doesn't take closes it."""
    path: list[str] = []
    modes = ["config"]
    for line in lines:
        while True:
            try:
                path, mode = EOS.apply(running, path, modes[-1], "xgs", line)
                break
            except Refused:
                assert path, f"EOS refuses {line!r}"
                path, modes = path[:-1], modes[:-1]
        modes = modes if len(modes) == len(path) + 1 else [*modes, mode]


def sections(running: Node) -> dict[str, tuple[str, ...]]:
    text = "\n".join(EOS.render(running))
    return dict(parse((text, text, '{"sessions": {}}', ""), LEAF).sections)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(CHOICES), max_size=12))
def test_what_we_type_leads_from_any_state_to_the_wanted_one(before: list[tuple[tuple[str, ...], str]]) -> None:
    running = sessions.factory("leaf1", "xgs", 4, "10.77.1.41")["running"]
    for path, line in before:
        type_into(running, [*path, line])
    have = sections(running)
    typed = [line.strip() for name, want in WANT.sections for line in commands(have[name], want)]
    type_into(running, typed)
    assert sections(running) == dict(WANT.sections)
    assert all(commands(sections(running)[name], want) == [] for name, want in WANT.sections)


@pytest.mark.parametrize(
    ("have", "want", "typed"),
    [
        (
            ["p", "   uc-tx-queue 3", "      bandwidth percent 30"],
            ["p", "   uc-tx-queue 3", "      bandwidth percent 50"],
            ["p", "uc-tx-queue 3", "bandwidth percent 50"],
        ),
        (
            ["p", "   uc-tx-queue 3", "      priority strict"],
            ["p", "   uc-tx-queue 3", "      bandwidth percent 50", "      no priority"],
            ["p", "uc-tx-queue 3", "no priority", "bandwidth percent 50"],
        ),
        (["p", "   qos trust cos"], ["p", "   qos trust dscp"], ["p", "qos trust dscp"]),
        (
            ["p", "   priority-flow-control priority 4 no-drop"],
            ["p"],
            ["p", "no priority-flow-control priority 4 no-drop"],
        ),
        (["i", "   mtu 1500"], ["i", "   mtu 9214"], ["i", "mtu 9214"]),
        (["i", "   service-profile OTHER"], ["i", "   service-profile ROCE"], ["i", "service-profile ROCE"]),
        (["i", "   no qos trust"], ["i"], ["i", "default qos trust"]),
        (
            ["qos map dscp 26 to traffic-class 2"],
            ["qos map dscp 26 to traffic-class 3"],
            ["qos map dscp 26 to traffic-class 3"],
        ),
    ],
)
def test_a_value_is_replaced_and_never_taken_away_first(have: list[str], want: list[str], typed: list[str]) -> None:
    names = {"p": "qos profile ROCE", "i": "interface Ethernet1"}

    def spelled(lines: list[str]) -> tuple[str, ...]:
        return tuple(names.get(line, line) for line in lines)

    assert [line.strip() for line in commands(spelled(have), spelled(want))] == list(spelled(typed))


@pytest.mark.parametrize(
    ("added", "why"),
    [
        ("   mtu 9214", "takes the links of {ports} down"),
        ("   service-profile ROCE", "moves the buffers of {ports}"),
        ("   priority-flow-control on", "moves the buffers of {ports}"),
        ("   qos trust cos", ""),
    ],
)
def test_a_new_mtu_takes_a_link_down_and_pfc_moves_buffers(added: str, why: str) -> None:
    have = ("interface Ethernet1", "   mtu 1500")
    found = stops(have[0], have, (have[0], added if "mtu" in added else have[1], added))
    assert why in found and bool(found) is bool(why)


def test_an_edit_of_the_profile_stops_traffic_and_a_new_one_does_not() -> None:
    want = dict(WANT.sections)["qos profile ROCE"]
    assert not stops("qos profile ROCE", (), want)
    assert stops("qos profile ROCE", want[:-1], want)
