# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

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


def leaves(tree: Any, path: str = "") -> dict[str, Any]:
    """Every value of a view, by its path."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, (list, tuple)) else ()
    found = {key: value for name, branch in items for key, value in leaves(branch, f"{path}.{name}").items()}
    return found if isinstance(tree, (dict, list, tuple)) else {path: tree}


def moved(**classes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What another class changes in the views of a switch and of a node."""
    assert LAB.fabric
    fabrics = (LAB.fabric, replace(LAB.fabric, **classes))
    views = [
        [leaves(it) for it in (switch(fabric, LAB.nodes, "leaf1"), nic(fabric, LAB.nodes, "gpu01"))]
        for fabric in fabrics
    ]
    changed = ({key: new[key] for key in new if new[key] != old.get(key)} for old, new in zip(*views))
    return next(changed), next(changed)


def test_one_dscp_moves_switch_nic_and_nccl_and_that_of_notifications_by_its_own_key() -> None:
    assert LAB.fabric
    on_switch, on_node = moved(roce=replace(LAB.fabric.roce, dscp=34))
    assert on_switch == {".roce.dscp": 34}
    for texts in (".files.0.content", ".blocks.0.content"):  # for the boot and for NCCL
        assert "138" in on_node.pop(texts)
    assert on_node == {".qos.groups.0.dscp_priorities.0.dscp": 34, ".roce.groups.0.tos": 138, ".nccl.NCCL_IB_TC": "138"}
    on_switch, on_node = moved(cnp=replace(LAB.fabric.cnp, dscp=50))
    assert on_switch == {".cnp.dscp": 50}
    assert '"dscp": 50' in on_node.pop(".files.0.content")
    assert on_node == {".qos.groups.0.dscp_priorities.1.dscp": 50, ".roce.groups.0.cnp_dscp": 50}


def test_the_switches_of_a_node_are_its_leaves() -> None:
    assert node_switches(LAB.fabric, LAB.nodes, "gpu01") == ["leaf1"]
    assert node_switches(None, LAB.nodes, "gpu01") == []
