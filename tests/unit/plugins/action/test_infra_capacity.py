# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.action.infra_capacity import check

ARGS = {"infra": ["infra1"], "gated": ["gpu01"], "job_namespaces": ["vision"]}


def node(name: str, cpu: str) -> dict[str, Any]:
    status = {"allocatable": {"cpu": cpu, "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"metadata": {"name": name}, "spec": {}, "status": status}


POD = {
    "metadata": {"namespace": "kube-system", "name": "coredns-0"},
    "spec": {"nodeName": "gpu01", "containers": [{"resources": {"requests": {"cpu": "100m"}}}]},
}


def seen(cpu: str) -> dict[str, Any]:
    lists = {"/api/v1/nodes": [node("infra1", cpu), node("gpu01", "128")], "/api/v1/pods": [POD]}
    return check(lambda method, path, body: (200, {"items": lists[path]}), ARGS)


def test_room_for_all() -> None:
    assert seen("1") == {"faults": []}


def test_pods_that_fit_nowhere_are_named() -> None:
    found = seen("50m")
    assert found["failed"]
    assert found["msg"].startswith(
        "Kubernetes lacks ungated nodes:\npod kube-system/coredns-0 fits on no infra node when gpu01"
    )
