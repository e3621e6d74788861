# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import (
    ProofDirectory,
    ProofNode,
    ProofRail,
    ProofTraining,
)

NODE = ProofNode(
    *("gpu01", "h100", (ProofRail("rail0", "mlx5_0", 400, 1),)),
    directories=(ProofDirectory("/data", "xfs", 1, 2, 3, True, 4),),
    training=ProofTraining("/opt/train", 60, "s", 2.5, True),
    tools={"stream": "/opt/stream"},
    limits={"rail bandwidth": "370"},
)


def test_a_node_survives_json() -> None:
    assert ProofNode.from_dict(json.loads(json.dumps(NODE.as_dict()))) == NODE


def test_whole_gpus_go_without_saying() -> None:
    """A release that knows divided GPUs changes no file of a node without."""
    assert "instances" not in NODE.as_dict()
    divided = replace(NODE, instances=14)
    assert ProofNode.from_dict(json.loads(json.dumps(divided.as_dict()))) == divided


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"training": {"budget": 1}}, TypeError),
        ({"rails": [{"netdev": "rail0"}]}, TypeError),
        ({"rails": None}, KeyError),
    ],
)
def test_data_of_another_release_is_refused(change: dict[str, Any], error: type[Exception]) -> None:
    data = {key: it for key, it in {**NODE.as_dict(), **change}.items() if it is not None}
    with pytest.raises(error):
        ProofNode.from_dict(data)
