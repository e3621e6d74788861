# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.view import (
    leaves,
    ports_of_nodes,
    switch_profile,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.unit.module_utils.site.test_refused import site

FABRIC = part("fabric", site("lab")["drawbridge_fabric"])
NODES = part("nodes", site("lab")["drawbridge_nodes"])


def test_each_switch_gets_its_ports_and_hardware_and_all_the_same_class() -> None:
    leaf, spine = switch_profile(FABRIC, "leaf2"), switch_profile(FABRIC, "spine1")
    assert (leaf.asic, len(leaf.ports), leaf.ports[-1]) == ("xgs", 20, "Ethernet20")
    assert (spine.asic, spine.ports) == ("jericho", ("Ethernet1", "Ethernet2", "Ethernet3", "Ethernet4"))
    assert (leaf.roce, leaf.cnp, leaf.mtu_bytes) == (spine.roce, spine.cnp, spine.mtu_bytes)


def test_an_unknown_switch_is_refused() -> None:
    with pytest.raises(IntentError, match="none of them is leaf9; add leaf9 there"):
        switch_profile(FABRIC, "leaf9")


RAILS = load(site("example-rails"))
assert RAILS.fabric
RAIL_FABRIC = RAILS.fabric


def test_a_storage_class_reaches_the_switch_and_survives_the_way() -> None:
    profile = switch_profile(RAIL_FABRIC, "leaf03")
    assert profile.storage and (profile.storage.priority, profile.lossless) == (4, [3])
    assert SwitchProfile.from_dict(json.loads(json.dumps(profile.as_dict()))) == profile


def test_with_cabling_a_nodes_ports_are_known() -> None:
    chosen = ports_of_nodes(RAIL_FABRIC, RAILS.nodes, "leaf03", ["gpu002", "gpu005", "gpu040"])
    assert chosen == ["Ethernet2/1", "Ethernet5/1"]
    assert switch_profile(RAIL_FABRIC, "leaf03", chosen).ports == ("Ethernet2/1", "Ethernet5/1")
    assert ports_of_nodes(RAIL_FABRIC, RAILS.nodes, "store1", ["gpu002"]) == ["swp2"]


def test_without_cabling_they_are_not() -> None:
    lab = load(site("lab"))
    assert ports_of_nodes(FABRIC, lab.nodes, "leaf1", ["gpu01"]) is None


def test_some_switches_have_their_own_thresholds_and_buffers() -> None:
    intent = site("lab")["drawbridge_fabric"]
    own = {"ecn_min_bytes": 300000, "cable_m": 40, "lossless_buffer_percent": 60, "queue_buffer_bytes": 3000000}
    intent["switches"][0] |= own
    changed = part("fabric", intent)
    leaf, spine = switch_profile(changed, "leaf1"), switch_profile(changed, "spine1")
    assert (leaf.roce.ecn_min_bytes, leaf.roce.ecn_max_bytes) == (300000, FABRIC.roce.ecn_max_bytes)
    assert (leaf.cable_m, leaf.lossless_buffer_percent, leaf.queue_buffer_bytes) == (40, 60, 3_000_000)
    assert spine == switch_profile(FABRIC, "spine1")
    assert SwitchProfile.from_dict(json.loads(json.dumps(leaf.as_dict()))) == leaf


def test_port_channels_come_with_their_members() -> None:
    intent = site("lab")["drawbridge_fabric"]
    channels = [{"name": f"Port-Channel{n}", "members": f"Ethernet{n * 2 - 1}-{n * 2}"} for n in (1, 2)]
    intent["switches"][0]["channels"] = channels
    fabric = part("fabric", intent)
    profile = switch_profile(fabric, "leaf1")
    assert profile.channel_of["Ethernet3"] == "Port-Channel2"
    assert SwitchProfile.from_dict(json.loads(json.dumps(profile.as_dict()))) == profile
    chosen = switch_profile(fabric, "leaf1", ["Ethernet1", "Ethernet9"])
    assert chosen.channel_of == {"Ethernet1": "Port-Channel1"}
    assert [channel.name for channel in chosen.channels] == ["Port-Channel1"]


def test_a_node_that_no_range_has_is_refused() -> None:
    with pytest.raises(IntentError, match=r'drawbridge_nodes\.ranges is "gpu99", but no range has this node'):
        NODES.class_of("gpu99")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["gpu01", "gpu02"], ["leaf1"]),
        (["gpu03"], ["leaf2"]),
        (["gpu04", "gpu01", "gpu03"], ["leaf2", "leaf1"]),
        (["unknown"], []),
        ([], []),
    ],
)
def test_each_leaf_comes_once(names: list[str], expected: list[str]) -> None:
    assert leaves(NODES, names) == expected


def test_rails_of_a_node_may_be_on_many_leaves() -> None:
    nodes = part("nodes", site("example-rails")["drawbridge_nodes"])
    assert leaves(nodes, ["gpu001", "gpu002"]) == [f"leaf0{number}" for number in range(1, 9)]
    assert len(leaves(nodes, ["gpu001", "gpu064"])) == 16
