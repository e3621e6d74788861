# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_groups import (
    cables,
    classes,
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


def test_a_class_is_named_after_its_models() -> None:
    nodes = {f"n{n}": lab_node("leaf1", n) for n in range(4)}
    for name, product in {"n1": "NVIDIA RTX A6000", "n2": "", "n3": "NVIDIA H100 80GB HBM3"}.items():
        nodes[name]["gpus"] = [{**gpu, "name": product} for gpu in nodes[name]["gpus"]]
    nodes["n3"]["gpus"][7]["name"] = "NVIDIA TITAN Xp"
    nodes["cpu1"] = {**nodes["n1"], "gpus": []}
    assert [one.name for one in classes(nodes)] == ["cpu", "h100", "rtx-a6000", "gpu", "h100-titan-xp"]
