# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import urllib.error
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.host import Server
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.node_object_io import (
    NodeObject,
    NodeStatus,
    status_of,
)

NODE = {
    "metadata": {"name": "gpu01"},
    "spec": {"taints": [{"key": "drawbridge.io/slurm", "value": "closed", "effect": "NoSchedule"}]},
    "status": {
        "conditions": [
            {"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": "2026-11-21T10:00:00Z"},
            {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-21T10:00:09Z"},
        ],
        "nodeInfo": {"kubeletVersion": "v1.36.3"},
    },
}


def test_a_node_tells() -> None:
    assert status_of(NODE) == NodeStatus(True, "closed", True, 1795255209.0)
    assert status_of({"metadata": {}}) == NodeStatus(True)


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (NodeStatus(False), ""),
        (NodeStatus(True, "closed"), ""),
        (NodeStatus(True, "vision.7"), "has not closed this node yet (drawbridge.io/slurm=vision.7)"),
        (NodeStatus(True, "dirty_vision.7"), "has not closed this node yet"),
        (NodeStatus(True), "open to all pods"),
    ],
)
def test_only_a_closed_node_is_free(node: NodeStatus, why: str) -> None:
    assert why in node.in_use
    assert bool(why) == bool(node.in_use)


def test_no_answer_is_no_answer(tmp_path: Path) -> None:
    node = NodeObject(Server("https://127.0.0.1:1", str(tmp_path / "ca.crt")), tmp_path / "none.pem", "gpu01")
    assert not node.member
    with pytest.raises(DeviceError, match="node gpu01 can't be read from"):
        node.read()


@pytest.mark.parametrize(("code", "exists"), [(404, False), (403, None)])
def test_only_not_found_means_that_there_is_none(tmp_path: Path, monkeypatch: Any, code: int, exists: Any) -> None:
    def refused(self: Server, request: Any, certificate: str) -> Any:
        raise urllib.error.HTTPError(request.full_url, code, "no", Message(), None)

    monkeypatch.setattr(Server, "ask", refused)
    node = NodeObject(Server("https://api:6443", "ca"), tmp_path / "kubelet.pem", "gpu01")
    if exists is None:
        with pytest.raises(DeviceError, match="does not show node gpu01"):
            node.read()
    else:
        assert node.read().exists is exists
