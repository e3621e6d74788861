# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.lines import (
    CLASSES,
    NETWORK,
    SYSTEM,
    WATCHDOG,
    sections_of,
    tree_of,
)

from tests.unit.emulated_switch import profile


def sections(*lines: str) -> dict[str, tuple[str, ...]]:
    return dict(sections_of(tree_of(lines), profile("nxos", 1)))


@pytest.mark.parametrize("spelling", ["26", "af31"])
def test_a_dscp_is_a_number(spelling: str) -> None:
    header = "class-map type qos match-all ROCE-DATA"
    assert sections(header, f"  match dscp {spelling}")[CLASSES] == (header, "  match dscp 26")


def test_a_list_of_dscps_is_one_line_each() -> None:
    header = "class-map type qos match-all ROCE-DATA"
    assert sections(header, "  match dscp 26,cs6")[CLASSES] == (header, "  match dscp 26", "  match dscp 48")


def test_what_nx_os_adds_by_itself_is_left_out() -> None:
    text = ("policy-map type qos ROCE-IN", "  class class-default")
    assert sections(*text) == sections(*text, "    set qos-group 0")
    assert "  class class-default" in sections(*text, "    set qos-group 5")[CLASSES]


def test_hidden_defaults_are_written_out() -> None:
    found = sections(NETWORK, "  class type network-qos c-8q-nq3", "    pause pfc-cos 3", "interface Ethernet1/1")
    assert "    mtu 1500" in found[NETWORK]
    assert "  mtu 1500" in found["interface Ethernet1/1"]
    assert found[WATCHDOG] == (
        "priority-flow-control watch-dog-interval off",
        "priority-flow-control watch-dog interval 100",
        "priority-flow-control watch-dog shutdown-multiplier 1",
        "priority-flow-control auto-restore multiplier 10",
    )


def test_others_policies_are_owned_only_where_one_can_be_in_force() -> None:
    found = sections(
        "system qos",
        "  service-policy type network-qos SITE",
        "  service-policy type queuing input SITE",
        "policy-map type qos SITE",
        "  class SITE",
        "interface Ethernet1/1",
        "  service-policy type qos input SITE",
        "  service-policy type queuing input SITE",
        "  description to gpu01",
    )
    assert found[SYSTEM] == ("system qos", "  service-policy type network-qos SITE")
    assert found["interface Ethernet1/1"] == (
        "interface Ethernet1/1",
        "  mtu 1500",
        "  service-policy type qos input SITE",
    )
    assert found[CLASSES] == ()
