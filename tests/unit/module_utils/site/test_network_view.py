# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.network_view import (
    nic,
    node_switches,
    switch,
)

from tests.unit.module_utils.site.test_refused import site

LAB = load(site("lab"))


def test_both_ends_of_a_link_have_the_same_class() -> None:
    assert LAB.fabric
    leaf, node = switch(LAB.fabric, LAB.nodes, "leaf1"), nic(LAB.fabric, LAB.nodes, "gpu01")
    assert node["mtu"]["groups"][0]["mtu_bytes"] <= leaf["mtu_bytes"]
    assert int(node["nccl"]["NCCL_IB_TC"]) >> 2 == LAB.fabric.roce.dscp


def test_notifications_have_a_dscp_of_their_own_at_both_ends() -> None:
    """That of data has more to move; tests/conformance/test_golden.py changes it in a whole plan."""
    assert LAB.fabric
    fabric = replace(LAB.fabric, cnp=replace(LAB.fabric.cnp, dscp=50))
    leaf, node = switch(fabric, LAB.nodes, "leaf1"), nic(fabric, LAB.nodes, "gpu01")
    assert (leaf["cnp"]["dscp"], node["roce"]["groups"][0]["cnp_dscp"]) == (50, 50)
    assert [it["dscp"] for it in node["qos"]["groups"][0]["dscp_priorities"]] == [LAB.fabric.roce.dscp, 50]
    assert '"dscp": 50' in node["files"][0]["content"]


def test_the_switches_of_a_node_are_its_leaves() -> None:
    assert node_switches(LAB.fabric, LAB.nodes, "gpu01") == ["leaf1"]
    assert node_switches(None, LAB.nodes, "gpu01") == []
