# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.capacity.plan import (
    Node,
    Pod,
    faults,
)

GATE = {"key": "drawbridge.io/slurm", "value": "closed", "effect": "NoSchedule"}
CONTROL = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


def nodes(**infra: Any) -> list[Node]:
    return [
        replace(Node("infra1", {"disk": "ssd", "size": "3"}, [], {"cpu": 2.0, "pods": 2.0}), **infra),
        Node("ctl1", {}, [CONTROL], {"cpu": 8.0, "pods": 110.0}),
        Node("gpu01", {"gpu": "yes"}, [GATE], {"cpu": 100.0, "pods": 110.0}),
    ]


def judged(*pods: Pod, **infra: Any) -> list[str]:
    return faults(nodes(**infra), pods, ["infra1"], ["gpu01", "gpu02"])


def pod(node: str = "gpu01", **more: Any) -> Pod:
    return Pod("shop/web", node, {"cpu": 1.0, "pods": 1.0, **more.pop("needs", {})}, **more)


def test_enough_room_is_enough() -> None:
    assert judged(pod(), replace(pod(""), name="shop/db")) == []


@pytest.mark.parametrize(
    ("infra", "said"),
    [
        ({"name": "other"}, "the cluster has no such node; join it"),
        ({"ready": False}, "it is not Ready; repair its kubelet"),
        ({"cordoned": True}, "it is cordoned; kubectl uncordon infra1"),
        ({"taints": [GATE]}, "it has the taint drawbridge.io/slurm"),
    ],
)
def test_infra_nodes_that_are_none(infra: dict[str, Any], said: str) -> None:
    (found,) = judged(**infra)
    assert found.startswith("drawbridge_kube.infra names infra1, but ") and said in found


@pytest.mark.parametrize(
    ("pod_", "why"),
    [
        (pod(needs={"cpu": 3.0}), "infra1 has too little cpu left"),
        (pod(needs={"nvidia.com/gpu": 1.0}), "infra1 has too little nvidia.com/gpu left"),
        (pod(selector={"gpu": "yes"}), "infra1 does not match its nodeSelector"),
        (
            pod(terms=[{"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["ssd"]}]}]),
            "infra1 does not match its node affinity",
        ),
        (pod(terms=[{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gpu01"]}]}]), "affinity"),
        (pod(terms=[{"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["5"]}]}]), "affinity"),
        (pod("", selector={"gpu": "yes"}), "every gated node is closed"),
    ],
)
def test_pods_that_fit_nowhere_are_named_with_the_reason(pod_: Pod, why: str) -> None:
    (found,) = judged(pod_)
    assert found.startswith("pod shop/web fits on no infra node when ") and why in found
    assert "add nodes to drawbridge_kube.infra" in found


def test_room_is_given_once() -> None:
    """Two fit, the third finds neither cpu nor a place."""
    found = judged(*(replace(pod(), name=f"shop/web{number}") for number in range(3)))
    assert len(found) == 1 and "too little cpu and pods left" in found[0]


def test_the_largest_are_placed_first() -> None:
    small = replace(pod(), name="shop/small", needs={"cpu": 0.5, "memory": 1.0, "pods": 1.0})
    large = replace(pod(), name="shop/large", needs={"cpu": 2.0, "memory": 2.0, "pods": 1.0})
    found = judged(small, large, free={"cpu": 2.0, "memory": 8.0, "pods": 9.0})
    assert ["shop/small" in text for text in found] == [True]


@pytest.mark.parametrize(
    "other",
    [
        pod(stays=True, needs={"cpu": 50.0}),
        pod(tolerations=[{"operator": "Exists"}], needs={"cpu": 50.0}),
        pod(tolerations=[{"key": "drawbridge.io/slurm", "operator": "Exists"}], needs={"cpu": 50.0}),
        pod("infra1", needs={"cpu": 50.0}),
        # it waits for something that no node has: closing nodes changes nothing for it
        pod("", selector={"moon": "yes"}),
        # it may live with the control plane
        pod(tolerations=[{"key": CONTROL["key"], "operator": "Exists"}], needs={"cpu": 4.0}),
    ],
)
def test_pods_that_are_none_of_our_business(other: Pod) -> None:
    assert judged(other) == []
