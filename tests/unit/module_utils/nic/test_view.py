# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.view import (
    link_files,
    nccl_env,
    nic_qos,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Nics, Nodes, Range
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES, FABRIC = part("nodes", SITE["drawbridge_nodes"]), part("fabric", SITE["drawbridge_fabric"])


RAILS = [f"rail{number}" for number in range(8)]
GPU, CNP = {"dscp": 26, "priority": 3}, {"dscp": 48, "priority": 6}
FILES = {"dscp": 34, "priority": 4}
STORAGE = Storage(4, 34)
NIC = Nics("bond0", "mlx5_bond_0", (0,), purpose="storage", members="ens1f[0-1]", name_rails=True, pci=("a", "b"))


def mixed() -> Nodes:
    """The lab's nodes with a bond for storage, and a node without any NIC."""
    build = NODES.classes["h100"]
    bare = replace(build, nics=())
    ranges = (*NODES.ranges, Range("cpu01", "cpu"))
    return replace(NODES, classes={"h100": replace(build, nics=(*build.nics, NIC)), "cpu": bare}, ranges=ranges)


def qos(nodes: Nodes, storage: Any, name: str = "gpu03") -> list[dict[str, Any]]:
    return nic_qos(nodes, FABRIC.roce, FABRIC.cnp, storage, name)


def test_every_rail_gets_both_classes_and_one_lossless_priority() -> None:
    assert qos(NODES, None) == [{"interfaces": RAILS, "lossless_priorities": [3], "dscp_priorities": [GPU, CNP]}]


def test_storage_traffic_shares_the_rails_or_has_ports_of_its_own() -> None:
    shared = {"interfaces": RAILS, "lossless_priorities": [3], "dscp_priorities": [GPU, CNP, FILES]}
    assert qos(NODES, STORAGE) == [shared]
    rails, ports = qos(mixed(), STORAGE)
    assert rails["dscp_priorities"] == [GPU, CNP]
    assert ports == {"interfaces": ["ens1f0", "ens1f1"], "lossless_priorities": [], "dscp_priorities": [CNP, FILES]}


def test_a_lossless_storage_class_is_paused_too() -> None:
    lossless = replace(STORAGE, lossless=True)
    assert qos(NODES, lossless)[0]["lossless_priorities"] == [3, 4]
    assert [group["lossless_priorities"] for group in qos(mixed(), lossless)] == [[3], [4]]


def test_storage_ports_without_a_class_of_their_own_carry_the_gpu_class() -> None:
    assert qos(mixed(), None)[1]["dscp_priorities"] == [GPU, CNP]


def test_a_node_without_nics_needs_nothing() -> None:
    assert (qos(mixed(), STORAGE, "cpu01"), nccl_env(mixed(), FABRIC.roce, "cpu01")) == ([], {})
    assert link_files(mixed(), "cpu01") == {}


def test_ports_get_their_names_by_pci_address() -> None:
    assert link_files(mixed(), "gpu01") == {
        "/etc/systemd/network/10-drawbridge-ens1f0.link": "[Match]\nPath=pci-a\n\n[Link]\nName=ens1f0\n",
        "/etc/systemd/network/10-drawbridge-ens1f1.link": "[Match]\nPath=pci-b\n\n[Link]\nName=ens1f1\n",
    }


def env(dscp: int) -> dict[str, str]:
    fabric = SITE["drawbridge_fabric"]
    return nccl_env(NODES, part("fabric", {**fabric, "roce": {**fabric["roce"], "dscp": dscp}}).roce, "gpu01")


def test_all_rails_by_exact_name_and_no_fixed_address() -> None:
    assert env(26) == {
        "NCCL_IB_HCA": "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7",
        "NCCL_IB_TC": "106",
    }


@given(dscp=st.integers(0, 63))
def test_the_traffic_class_is_the_dscp_and_says_that_the_sender_understands_marking(dscp: int) -> None:
    octet = int(env(dscp)["NCCL_IB_TC"])
    assert octet >> 2 == dscp
    assert octet & 3 == 0b10
