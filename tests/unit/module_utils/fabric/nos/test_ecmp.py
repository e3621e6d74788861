# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Equal paths by all that tells RoCE flows apart: on switches whose own lines take some of it away."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import Traffic

from tests.unit.emulated_switch import profile
from tests.unit.module_utils.fabric.each_system import EOS, JUNOS, NEXUS, OS10, System

SPREAD = r"load-sharing|load-balanc|hash"
JUNOS_KEY = "forwarding-options enhanced-hash-key"
TAKEN = [
    (EOS, "ip load-sharing trident fields ip source-ip destination-ip", ""),
    (EOS, "ip load-sharing trident fields ipv6 source-ip source-port destination-ip", ""),
    (NEXUS, "ip load-sharing address source-destination", ""),
    (NEXUS, "ip load-sharing address destination port destination rotate 12", ""),
    (JUNOS, f"set {JUNOS_KEY} hash-mode layer2-header", ""),
    (JUNOS, f"set {JUNOS_KEY} inet no-l4-source-port ; set {JUNOS_KEY} inet vlan-id", "inet vlan-id"),
    (OS10, "no load-balancing tcp-udp-selection l4-source-port", ""),
    (OS10, "no load-balancing ipv6-selection source-ip ; no load-balancing mac-selection source-mac", "source-mac"),
]
ENOUGH = [
    (EOS, "ip load-sharing trident fields ip destination-ip source-ip source-port destination-port"),
    (NEXUS, "ip load-sharing address source-destination port source-destination universal-id 7 rotate 12"),
    (JUNOS, f"set {JUNOS_KEY} ecmp-resilient-hash"),
    (OS10, "no load-balancing mac-selection source-mac"),
]


def spread(switch: Any) -> list[str]:
    return [line for line in switch.lines() if re.search(SPREAD, line)]


@pytest.mark.parametrize(("system", "typed", "stays"), TAKEN)
def test_fields_that_a_line_takes_away_come_back_and_others_stay(
    switch: Any, system: System, typed: str, stays: str
) -> None:
    switch.converge()
    switch.type(*typed.split(" ; "))
    before = spread(switch)
    assert before
    assert not switch.converge().changed, "without the key, the hash is the site's"
    wanted = replace(profile(switch.system), ecmp="roce")
    predicted = switch.converge(check=True, want=wanted)
    assert spread(switch) == before
    # it moves flows, and takes no link down, so it waits for no node
    changed = switch.converge(want=wanted, traffic=Traffic())
    assert (changed.error, changed.changed, changed.left, changed.steps) == ("", True, [], predicted.steps)
    assert [line for line in spread(switch) if not line.endswith("load-balancing")] == [
        line for line in before if stays and line.endswith(stays)
    ]
    assert not switch.converge(want=wanted).changed


@pytest.mark.parametrize(("system", "typed"), ENOUGH)
def test_lines_that_have_all_of_it_stay(switch: Any, system: System, typed: str) -> None:
    wanted = replace(profile(switch.system), ecmp="roce")
    switch.converge(want=wanted)
    switch.type(typed)
    before = spread(switch)
    assert before
    assert not switch.converge(want=wanted).changed
    assert spread(switch) == before
