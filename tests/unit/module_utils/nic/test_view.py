# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric import model
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.dcqcn.model import Dcqcn
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.rules import classes_differ
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.view import switch_profile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.queues import shared
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce.places import RATES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Nodes, Range
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.nics import Nics
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES, FABRIC = part("nodes", SITE["drawbridge_nodes"]), part("fabric", SITE["drawbridge_fabric"])


RAILS = [f"rail{number}" for number in range(8)]
GPU, CNP = {"dscp": 26, "priority": 3}, {"dscp": 48, "priority": 6}
FILES = {"dscp": 34, "priority": 4}
STORAGE = model.Storage(4, 34)
NIC = Nics("bond0", "mlx5_bond_0", (0,), purpose="storage", members="ens1f[0-1]", name_rails=True, pci=("a", "b"))


def mixed() -> Nodes:
    """The lab's nodes with a bond for storage, and a node without any NIC."""
    build = NODES.classes["h100"]
    bare = replace(build, nics=())
    ranges = (*NODES.ranges, Range("cpu01", "cpu"))
    return replace(NODES, classes={"h100": replace(build, nics=(*build.nics, NIC)), "cpu": bare}, ranges=ranges)


def shares(percent: dict[int, int]) -> list[dict[str, int]]:
    return [{"priority": priority, "percent": share} for priority, share in percent.items()]


def qos(nodes: Nodes, storage: Any, name: str = "gpu03") -> list[dict[str, Any]]:
    return view.nic_qos(nodes, FABRIC.roce, FABRIC.cnp, storage, name)


def test_every_rail_gets_both_classes_and_one_lossless_priority() -> None:
    group = {"interfaces": RAILS, "lossless_priorities": [3], "dscp_priorities": [GPU, CNP]}
    assert qos(NODES, None) == [{**group, "bandwidth": shares({3: 50, 6: 0}), "cable_m": 0, "pci_vendor": "15b3"}]


def test_storage_traffic_shares_the_rails_or_has_ports_of_its_own() -> None:
    [rails] = qos(NODES, STORAGE)
    assert (rails["interfaces"], rails["lossless_priorities"]) == (RAILS, [3])
    assert rails["dscp_priorities"] == [GPU, FILES, CNP]
    assert rails["bandwidth"] == shares({3: 50, 4: 30, 6: 0})
    rails, ports = qos(mixed(), STORAGE)
    assert rails["dscp_priorities"] == [GPU, CNP]
    assert (ports["interfaces"], ports["lossless_priorities"]) == (["ens1f0", "ens1f1"], [])
    assert (ports["dscp_priorities"], ports["bandwidth"]) == ([FILES, CNP], shares({4: 30, 6: 0}))


def test_storage_ports_without_a_class_of_their_own_carry_the_gpu_class() -> None:
    assert qos(mixed(), None)[1]["dscp_priorities"] == [GPU, CNP]


def test_a_node_without_nics_needs_nothing() -> None:
    assert (qos(mixed(), STORAGE, "cpu01"), view.nccl_env(mixed(), FABRIC.roce, "cpu01")) == ([], {})


def env(dscp: int) -> dict[str, str]:
    fabric = SITE["drawbridge_fabric"]
    return view.nccl_env(NODES, part("fabric", {**fabric, "roce": {**fabric["roce"], "dscp": dscp}}).roce, "gpu01")


def test_nccl_knows_rails_with_leaves_of_their_own_and_the_classs_devices() -> None:
    build = replace(NODES.classes["h100"], management_netdev="eno1", nccl_topology_file="/opt/topo.xml")
    ranges = tuple(replace(it, leaves="leaf[1-2]") for it in NODES.ranges)
    found = view.nccl_env(replace(NODES, classes={"h100": build}, ranges=ranges), FABRIC.roce, "gpu01")
    further = {"NCCL_CROSS_NIC": "0", "NCCL_SOCKET_IFNAME": "=eno1", "NCCL_TOPO_FILE": "/opt/topo.xml"}
    assert found == {**env(26), **further}


def test_an_older_nccl_gets_an_index_and_the_rails_are_compared_with_it() -> None:
    nodes = replace(NODES, classes={"h100": replace(NODES.classes["h100"], nccl_gid_index=3)})
    assert view.nccl_env(nodes, FABRIC.roce, "gpu01")["NCCL_IB_GID_INDEX"] == "3"
    assert [view.roce_groups(it, FABRIC.roce, FABRIC.cnp, None, "gpu01")[0]["gid_index"] for it in (nodes, NODES)] == [
        3,
        -1,
    ]


def test_each_way_of_congestion_control_reaches_switch_firmware_and_nccl() -> None:
    def made(control: str) -> tuple[Any, ...]:
        [roce] = view.roce_groups(NODES, FABRIC.roce, FABRIC.cnp, None, "gpu01", control)
        adaptive = view.nccl_env(NODES, FABRIC.roce, "gpu01", control).get("NCCL_IB_ADAPTIVE_ROUTING")
        parameters = [group["parameters"] for group in view.firmware_groups(NODES, control, "gpu01")]
        return roce["ecn_enabled"], parameters, adaptive

    spectrum_x = ["ROCE_ADAPTIVE_ROUTING_EN=1", "USER_PROGRAMMABLE_CC=1", "TX_SCHEDULER_LOCALITY_MODE=2"]
    assert [made(control) for control in model.CONGESTION_CONTROLS] == [
        (True, [], None),
        (False, [["ROCE_CC_PRIO_MASK_P1=0"]], None),
        (True, [spectrum_x], "1"),
    ]


def test_parameters_of_dcqcn_reach_every_device() -> None:
    assert "rates" not in view.roce_groups(NODES, FABRIC.roce, FABRIC.cnp, None, "gpu01")[0]
    set_rates = Dcqcn(rpg_ai_rate=10, min_time_between_cnps=0).rates
    [group] = view.roce_groups(NODES, FABRIC.roce, FABRIC.cnp, None, "gpu01", "dcqcn", set_rates)
    assert group["rates"] == [{"name": "rpg_ai_rate", "value": 10}, {"name": "min_time_between_cnps", "value": 0}]
    assert sorted(Dcqcn.__dataclass_fields__) == list(RATES)


def test_a_classs_own_firmware_wins() -> None:
    build = NODES.classes["h100"]
    nics = replace(build.nics[0], firmware=("SRIOV_EN=0", "USER_PROGRAMMABLE_CC=0"))
    nodes = replace(NODES, classes={"h100": replace(build, nics=(nics,))})
    [group] = view.firmware_groups(nodes, "adaptive_routing", "gpu01")
    assert group["ports"] == RAILS
    assert group["parameters"][-2:] == ["SRIOV_EN=0", "USER_PROGRAMMABLE_CC=0"] and len(group["parameters"]) == 4


@given(dscp=st.integers(0, 63))
def test_the_traffic_class_is_the_dscp_and_says_that_the_sender_understands_marking(dscp: int) -> None:
    octet = int(env(dscp)["NCCL_IB_TC"])
    assert octet >> 2 == dscp
    assert octet & 3 == 0b10


def test_a_bond_has_the_fabrics_mtu_and_its_ports_follow() -> None:
    rails, bond = view.mtu_groups(mixed(), 4200, "gpu01")
    assert (rails["interfaces"], rails["mtu_bytes"], rails["ports"]) == (RAILS, 4200, RAILS)
    assert (bond["interfaces"], bond["mtu_bytes"], bond["ports"]) == (["bond0"], 4200, ["ens1f0", "ens1f1"])


def test_several_devices_answer_for_their_own_addresses_and_one_alone_may_for_all() -> None:
    assert [group["own_addresses"] for group in view.mtu_groups(mixed(), 4200, "gpu01")] == [True, True]
    build = replace(NODES.classes["h100"], nics=(NIC,))
    assert [it["own_addresses"] for it in view.mtu_groups(replace(NODES, classes={"h100": build}), 4200, "gpu01")] == [
        False
    ]


def test_rdma_cm_has_the_gpu_class_on_rails_and_the_storage_class_on_storage_ports() -> None:
    rails, bond = view.roce_groups(mixed(), FABRIC.roce, FABRIC.cnp, STORAGE, "gpu01")
    assert [group["tos"] >> 2 for group in (rails, bond)] == [26, 34]
    assert [group["needs_gid"] for group in (rails, bond)] == [True, False]
    assert rails["devices"][7] == {"netdev": "rail7", "rdma": "mlx5_7", "ports": ["rail7"]}
    assert bond["devices"] == [{"netdev": "bond0", "rdma": "mlx5_bond_0", "ports": ["ens1f0", "ens1f1"]}]
    assert view.roce_groups(mixed(), FABRIC.roce, FABRIC.cnp, None, "gpu01")[1]["tos"] >> 2 == 26


CLASSES = st.permutations(range(8)).flatmap(
    lambda priorities: st.lists(st.integers(0, 63), min_size=3, max_size=3, unique=True).map(
        lambda dscps: list(zip(priorities, dscps))
    )
)


@given(classes=CLASSES, lossless=st.booleans(), separate=st.booleans())
def test_switch_port_rdma_cm_and_nccl_agree_for_every_legal_intent(
    classes: list[tuple[int, int]], lossless: bool, separate: bool
) -> None:
    roce, cnp, storage = model.Roce(*classes[0]), model.Cnp(*classes[1]), model.Storage(*classes[2], lossless=lossless)
    fabric = replace(FABRIC, roce=roce, cnp=cnp, storage=storage)
    assert list(classes_differ(fabric)) == []
    nodes = mixed() if separate else NODES
    ports = view.nic_qos(nodes, roce, cnp, storage, "gpu01")
    devices = view.roce_groups(nodes, roce, cnp, storage, "gpu01")
    paused = set().union(*(group["lossless_priorities"] for group in ports))
    assert paused == set(switch_profile(fabric, "leaf1").lossless)
    for port, device in zip(ports, devices):
        mapped = {entry["dscp"]: entry["priority"] for entry in port["dscp_priorities"]}
        assert cnp.priority not in port["lossless_priorities"]
        queues = shared({it["priority"]: it["percent"] for it in port["bandwidth"]})
        assert len({queues[priority][0] for priority in mapped.values()}) == len(mapped), "no two classes share a queue"
        assert queues[cnp.priority][1] == "strict"
        assert mapped[device["tos"] >> 2] != cnp.priority
        assert (device["cnp_dscp"], device["cnp_priority"]) == (cnp.dscp, mapped[cnp.dscp])
        assert device["ecn_priorities"] == port["lossless_priorities"]
    octet = int(view.nccl_env(nodes, roce, "gpu01")["NCCL_IB_TC"])
    assert octet == devices[0]["tos"] and octet >> 2 == roce.dscp


def of_vendor(device: str) -> Nodes:
    """The lab's nodes with other NICs."""
    build = NODES.classes["h100"]
    nics = tuple(replace(it, device=device) for it in build.nics)
    return replace(NODES, classes={**NODES.classes, "h100": replace(build, nics=nics)})


@pytest.mark.parametrize("device", ["14e4:1760", "8086:1592", "1dd8:1002"])
def test_congestion_control_is_set_on_nics_of_nvidia_alone(device: str) -> None:
    [group] = view.roce_groups(of_vendor(device), FABRIC.roce, FABRIC.cnp, None, "gpu03", rates={"rpg_ai_rate": 5})
    assert (group["tos"], group["ecn_priorities"]) == (106, [])
    assert not {"cnp_dscp", "cnp_priority", "rates"} & group.keys()
    assert view.firmware_groups(of_vendor(device), "off", "gpu03") == []
    [group] = view.roce_groups(of_vendor(""), FABRIC.roce, FABRIC.cnp, None, "gpu03")
    assert (group["cnp_dscp"], group["ecn_priorities"]) == (48, [3])


def test_where_the_network_is_the_sites_only_what_the_class_asks_for_is_set() -> None:
    build = NODES.classes["h100"]
    [rails] = build.nics
    rails = replace(rails, route_table=0, gateway="")
    nics = (replace(rails, ring_size=8192, firmware=("ATS_ENABLED=0",), local_interrupts=True),)
    nodes = replace(NODES, classes={**NODES.classes, "h100": replace(build, nics=nics)})
    [group] = view.mtu_groups(nodes, 0, "gpu03")
    assert [group[it] for it in ("mtu_bytes", "pause_off", "own_addresses", "ring_size")] == [0, False, False, 8192]
    assert group["interrupts_numa"] == list(rails.numa)
    routed = replace(build, nics=(replace(rails, route_table=1000),))
    [group] = view.mtu_groups(replace(NODES, classes={"h100": routed, "a100": routed}), 0, "gpu03")
    assert group["own_addresses"], "a route of its own needs answers of its own"
    [group] = view.unmarked_groups(nodes, "gpu03")
    assert (group["devices"][7]["rdma"], group["tos"], group["needs_gid"]) == ("mlx5_7", -1, False)
    env = view.nccl_env(nodes, None, "gpu03")
    assert env["NCCL_IB_HCA"].startswith("=mlx5_0,") and "NCCL_IB_TC" not in env
    assert view.firmware_groups(nodes, "dcqcn", "gpu03")[0]["parameters"] == ["ATS_ENABLED=0"]
