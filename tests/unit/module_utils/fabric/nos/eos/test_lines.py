# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.lines import (
    MAPS,
    PROFILE,
    WATCHDOG,
    blocks_of,
    sections_of,
)

from tests.unit.emulated_switch import profile

LEAF = profile(ports=1)
PORT = "interface Ethernet1"


def section(name: str, text: str) -> tuple[str, ...]:
    return dict(sections_of(blocks_of(text), LEAF))[name]


@pytest.mark.parametrize(
    "text",
    [
        "",  # EOS need not print a map that equals its default
        "qos map dscp 24 26 to traffic-class 3\nqos map dscp 48-50 to traffic-class 6",
        "qos map dscp 26 to traffic-class 3\nqos map traffic-class 3 to tx-queue 3",
    ],
)
def test_maps_are_equal_however_they_are_printed(text: str) -> None:
    assert section(MAPS, text) == (
        "qos map dscp 26 to traffic-class 3",
        "qos map dscp 48 to traffic-class 6",
        "qos map traffic-class 3 to tx-queue 3",
        "qos map traffic-class 6 to tx-queue 6",
    )


@pytest.mark.parametrize(("dscp", "default"), [(0, 1), (7, 1), (8, 0), (15, 0), (16, 2), (63, 7)])
def test_a_map_that_is_not_printed_is_eos_own_default(dscp: int, default: int) -> None:
    """EOS puts the first two blocks of DSCPs into each other's class."""
    low = replace(LEAF, cnp=replace(LEAF.cnp, dscp=dscp))
    assert dict(sections_of({}, low))[MAPS][1] == f"qos map dscp {dscp} to traffic-class {default}"


def test_a_map_of_a_dscp_of_the_profile_to_another_traffic_class_is_seen() -> None:
    assert section(MAPS, "qos map dscp 20,25-27 to traffic-class 2")[0] == "qos map dscp 26 to traffic-class 2"


def test_watchdog_times_are_numbers() -> None:
    text = "priority-flow-control pause watchdog default timeout 0.20\npriority-flow-control pause watchdog action drop"
    assert section(WATCHDOG, text) == (
        "priority-flow-control pause watchdog default timeout 0.2",
        "priority-flow-control pause watchdog action drop",
    )


def test_a_port_shows_drawbridges_lines_and_lines_that_would_overrule_them() -> None:
    text = """
interface Ethernet1
   description to gpu01
   no switchport
   ip address 10.1.1.0/31
   qos trust cos
   priority-flow-control priority 4 no-drop
   service-profile OTHER
   !
   uc-tx-queue 3
      bandwidth guaranteed 100
      random-detect ecn count
   !
   uc-tx-queue 5
      random-detect ecn count
"""
    assert section(PORT, text) == (
        PORT,
        "   mtu 1500",
        "   priority-flow-control priority 4 no-drop",
        "   qos trust cos",
        "   service-profile OTHER",
        "   uc-tx-queue 3",
        "      random-detect ecn count",
    )


@pytest.mark.parametrize("line", ["qos trust dscp", "description mtu 9000", "switchport"])
def test_lines_that_change_nothing_are_not_ours(line: str) -> None:
    assert section(PORT, f"{PORT}\n   mtu 9214\n   {line}") == (PORT, "   mtu 9214")


def test_a_weight_that_is_printed_is_kept_and_jericho_has_none() -> None:
    ecn = "      random-detect ecn minimum-threshold 1 kbytes maximum-threshold 2 kbytes max-mark-probability 3"
    text = f"qos profile ROCE\n   {{queue}} 3\n{ecn}{{weight}}"
    assert section(PROFILE, text.format(queue="uc-tx-queue", weight=" weight 5"))[-1] == f"{ecn} weight 5"
    spine = sections_of(blocks_of(text.format(queue="tx-queue", weight="")), replace(profile(), asic="jericho"))
    assert dict(spine)[PROFILE][-1] == ecn
