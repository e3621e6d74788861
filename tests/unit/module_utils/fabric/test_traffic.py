# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Channel
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import (
    Traffic,
    link_ports,
    nodes_behind,
    rounds,
    waves,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.module_utils.site.test_refused import site

RAILS = load(site("example-rails"))
LAB = load(site("lab"))
assert RAILS.fabric and LAB.fabric
FABRIC, NODES = RAILS.fabric, RAILS.nodes
SWITCHES = [name for kind in FABRIC.switches for name in hostlist.expand(kind.names)]


def test_a_port_of_a_node_carries_its_traffic_and_an_uplink_that_of_the_whole_leaf() -> None:
    behind = nodes_behind(FABRIC, NODES, "leaf03")
    assert behind["Ethernet5/1"] == ["gpu005"]
    assert hostlist.in_order(behind["Ethernet33/1"]) == "gpu[001-032]"
    assert link_ports(FABRIC, "leaf03")[0] == "Ethernet33/1"


def test_a_spines_port_carries_the_traffic_of_the_leaf_below_it() -> None:
    behind = nodes_behind(FABRIC, NODES, "spine2")
    assert hostlist.in_order(behind["Ethernet1/1"]) == "gpu[001-032]"
    assert hostlist.in_order(behind["Ethernet128/1"]) == "gpu[033-064]"
    assert len(link_ports(FABRIC, "spine2")) == 128


def test_without_cabling_a_port_may_carry_traffic_of_all_nodes_of_its_leaf() -> None:
    assert LAB.fabric
    assert nodes_behind(LAB.fabric, LAB.nodes, "leaf1")["Ethernet3"] == ["gpu01", "gpu02"]
    assert nodes_behind(LAB.fabric, LAB.nodes, "spine1")["Ethernet4"] == ["gpu01", "gpu02", "gpu03", "gpu04"]
    assert link_ports(LAB.fabric, "leaf1") == []


def test_a_port_channel_carries_the_traffic_of_its_members() -> None:
    channels = (Channel("Port-Channel1", "Ethernet5/1,Ethernet6/1"), Channel("Port-Channel2", "Ethernet33/1-34/1"))
    fabric = replace(FABRIC, switches=tuple(replace(kind, channels=channels) for kind in FABRIC.switches))
    behind = nodes_behind(fabric, NODES, "leaf03")
    assert behind["Port-Channel1"] == ["gpu005", "gpu006"]
    assert hostlist.in_order(behind["Port-Channel2"]) == "gpu[001-032]"
    assert link_ports(fabric, "leaf03")[-1] == "Port-Channel2"
    assert "Port-Channel1" not in nodes_behind(replace(fabric, cabling=None), NODES, "store1"), "members are not known"


def test_a_port_channel_with_an_unknown_member_is_not_known() -> None:
    assert FABRIC.cabling
    cabling = replace(FABRIC.cabling, links=())
    channel = Channel("Port-Channel1", "Ethernet5/1,Ethernet33/1")
    fabric = replace(
        FABRIC, cabling=cabling, switches=tuple(replace(it, channels=(channel,)) for it in FABRIC.switches)
    )
    assert "Ethernet5/1" in nodes_behind(fabric, NODES, "leaf03")
    assert "Port-Channel1" not in nodes_behind(fabric, NODES, "leaf03")


def test_a_leaf_that_serves_no_node_is_not_known() -> None:
    alone = replace(FABRIC, cabling=None)
    assert nodes_behind(alone, NODES, "store1") == {}


@settings(max_examples=20)
@given(st.sets(st.sampled_from(SWITCHES)))
def test_a_node_loses_one_rail_at_a_time_and_spines_are_last(chosen: set[str]) -> None:
    order = waves(FABRIC, NODES, chosen)
    assert sorted(name for wave in order for name in wave) == sorted(chosen)
    for wave in order:
        nodes = [node for name in wave for node in served(name)]
        assert len(nodes) == len(set(nodes))
    tiers = ["spine" in name for wave in order for name in wave]
    assert tiers == sorted(tiers)
    assert all(len(wave) == 1 for wave in order if "spine" in wave[0])


def served(leaf: str) -> set[str]:
    links = link_ports(FABRIC, leaf)
    return {node for port, found in nodes_behind(FABRIC, NODES, leaf).items() if port not in links for node in found}


def test_equal_units_change_at_the_same_time() -> None:
    order = waves(FABRIC, NODES, SWITCHES)
    assert order[0] == ["leaf01", "leaf09"]
    assert len(order) == 8 + 2 + 4


def test_switches_of_a_pair_change_one_after_the_other() -> None:
    kind = replace(FABRIC.switches[0], names="leaf[1-4]", pairs=("leaf[1-2]", "leaf[3-4]"))
    fabric = replace(FABRIC, cabling=None, switches=(kind,))
    nodes = replace(
        NODES, ranges=tuple(replace(NODES.ranges[0], names=f"gpu00{n}", leaves=f"leaf{n}") for n in range(1, 5))
    )
    alone = replace(fabric, switches=(replace(kind, pairs=()),))
    assert waves(alone, nodes, ["leaf1", "leaf2", "leaf3", "leaf4"]) == [["leaf1", "leaf2", "leaf3", "leaf4"]]
    assert waves(fabric, nodes, ["leaf1", "leaf2", "leaf3", "leaf4"]) == [["leaf1", "leaf3"], ["leaf2", "leaf4"]]
    assert rounds(fabric, ["leaf4", "spine1", "leaf3", "leaf2"]) == [["spine1", "leaf3"], ["leaf4", "leaf2"]]


def test_ports_wait_for_all_nodes_behind_them() -> None:
    use = ClusterUse(frozenset({"gpu01"}), {"gpu02": "7"}, "")
    traffic = Traffic({"swp1": ["gpu01"], "swp2": ["gpu01", "gpu02"], "swp3": []}, use=use, consent="x")
    assert traffic.waits_for(["swp1"]) == ""
    assert traffic.waits_for(["swp1", "swp2"]).startswith("Slurm job 7 is on gpu02; drain gpu02 and run this again, or")
    assert traffic.waits_for(["swp3"]).startswith("the intent does not say who is behind swp3")
    assert traffic.waits_for(["swp4"]).endswith("allow it with the line: x: true")


def test_both_switches_of_a_pair_carry_a_bond_one_after_the_other() -> None:
    bond = load(site("example-bond"))
    assert bond.fabric
    for leaf in ("leaf01", "leaf02"):
        behind = nodes_behind(bond.fabric, bond.nodes, leaf)
        assert (behind["ethernet1/1/3"], behind["port-channel3"]) == (["gpu03"], ["gpu03"])
    assert waves(bond.fabric, bond.nodes, ["leaf01", "leaf02"]) == [["leaf01"], ["leaf02"]]
    assert rounds(bond.fabric, ["leaf01", "leaf02"]) == [["leaf01"], ["leaf02"]]
