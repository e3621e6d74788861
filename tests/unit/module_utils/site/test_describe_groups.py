# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_groups import (
    cables,
    gpu_type,
    leaves,
)

from tests.unit.module_utils.site.test_describe_view import lab_node


def test_rails_on_a_leaf_each_share_ports() -> None:
    """Each rail has its leaf, and node n uses port n of all."""
    nodes = {f"gpu{n}": lab_node("leaf", 1) for n in (1, 2)}
    for number, facts in enumerate(nodes.values(), 1):
        facts["neighbours"] = {f"rail{n}": [f"leaf{n + 1}", f"Ethernet{number}"] for n in range(8)}
    assert leaves(nodes["gpu1"]) == tuple(f"leaf{n}" for n in range(1, 9))
    assert cables(nodes) == [{"switches": "leaf[1-8]", "ports": "Ethernet1-2", "nodes": "gpu[1-2]"}]
    del nodes["gpu1"]["neighbours"]["rail3"]
    assert leaves(nodes["gpu1"]) == (), "a rail without a neighbour leaves the leaves unknown"


def test_the_type_is_the_model() -> None:
    assert gpu_type(lab_node("leaf1", 1)) == "h100"
    assert gpu_type({"gpus": [{"name": ""}]}) == "gpu"
    assert gpu_type({"gpus": []}) == ""
