# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import (
    Fabric,
    Roce,
    Switches,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.capabilities import (
    lacking,
)


def test_what_a_system_can_not_be_given_is_said_with_the_switches() -> None:
    kinds = (
        Switches("leaf[1-2]", "leaf", "eos", "Ethernet1-4"),
        Switches("leaf[3-4]", "leaf", "os10", "ethernet1/1/1-1/1/4"),
        Switches("leaf5", "leaf", "os10", "ethernet1/1/1-1/1/8"),
    )
    assert lacking(Fabric(roce=Roce(3, 26), switches=kinds)) == [
        "leaf[3-4],leaf5: Drawbridge configures no PFC watchdog on OS10; drawbridge_fabric.watchdog has no effect there"
    ]
    assert lacking(Fabric(roce=Roce(3, 26), switches=kinds[:1])) == []


def test_equal_paths_stay_as_they_are_on_jericho_and_check_says_so() -> None:
    kinds = tuple(Switches(f"s-{asic}", "spine", "eos", "Ethernet1-4", asic=asic) for asic in ("xgs", "jericho2"))
    assert lacking(Fabric(roce=Roce(3, 26), switches=kinds)) == []
    [lack] = lacking(Fabric(roce=Roce(3, 26), switches=kinds, ecmp="roce"))
    assert lack.startswith("s-jericho2: Drawbridge sets no hash for equal paths on jericho2 with eos")


def test_switches_get_no_adaptive_routing_and_check_says_so() -> None:
    kinds = (Switches("leaf1", "leaf", "nvue", "swp1-4", asic="spectrum4"),)
    fabric = Fabric(roce=Roce(3, 26), switches=kinds, congestion_control="adaptive_routing")
    [lack] = lacking(fabric)
    assert lack.startswith("leaf1: Drawbridge configures no adaptive routing on switches")
