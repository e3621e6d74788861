# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.capacity.io import read

NODE = {
    "metadata": {"name": "infra1", "labels": {"a": "b"}},
    "spec": {"unschedulable": True, "taints": [{"key": "x", "effect": "NoSchedule"}]},
    "status": {
        "allocatable": {"cpu": "3500m", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}


def pod(name: str, requests: dict[str, str], namespace: str = "shop", **more: Any) -> dict[str, Any]:
    containers = [{"resources": {"requests": requests}}, {}]
    spec = {"nodeName": "infra1", "containers": containers, **more.pop("spec", {})}
    return {"metadata": {"namespace": namespace, "name": name, **more}, "spec": spec, "status": {"phase": "Running"}}


def ask(*pods: dict[str, Any]) -> Any:
    lists = {"/api/v1/nodes": [NODE], "/api/v1/pods": list(pods)}
    return lambda method, path, body: (200, {"items": lists[path]})


def test_a_nodes_free_resources() -> None:
    done = {**pod("done", {"cpu": "3"}), "status": {"phase": "Succeeded"}}
    nodes, pods = read(ask(pod("web", {"cpu": "500m", "memory": "1Gi"}), done), [])
    (node,) = nodes
    assert node.free == {"cpu": 3.0, "memory": 7 * 2.0**30, "pods": 109.0}
    assert node.ready and node.cordoned and node.taints == [{"key": "x", "effect": "NoSchedule"}]
    assert [it.name for it in pods] == ["shop/web"]


def test_pods_of_jobs_take_room_and_are_not_judged() -> None:
    nodes, pods = read(ask(pod("slurm-1-x", {"cpu": "1"}, "vision")), ["vision"])
    assert pods == [] and nodes[0].free["cpu"] == 2.5


def test_what_a_pod_needs() -> None:
    spec = {
        "initContainers": [{"resources": {"requests": {"cpu": "2"}}}, {"resources": {"requests": {"memory": "1Mi"}}}],
        "overhead": {"cpu": "250m"},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}},
    }
    owner = [{"kind": "DaemonSet", "name": "net"}]
    _, (found,) = read(ask(pod("net", {"cpu": "1"}, spec=spec, ownerReferences=owner)), [])
    assert found.needs == {"pods": 1.0, "cpu": 2.25, "memory": 2.0**20}
    assert found.stays and found.terms == [{}]


ONCE, SIDECAR = {}, {"restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("before", "cpu"),
    [
        ([(SIDECAR, "2")], 3.0),
        ([(SIDECAR, "2"), (SIDECAR, "1")], 4.0),
        ([(SIDECAR, "2"), (ONCE, "4")], 6.0),
        ([(ONCE, "4"), (SIDECAR, "2")], 4.0),
        ([(SIDECAR, "1"), (ONCE, "1")], 2.0),
    ],
)
def test_sidecars_run_on(before: list[tuple[dict[str, str], str]], cpu: float) -> None:
    """What the scheduler counts: beside a container of 1 CPU, and beside each init container after them."""
    containers = [{**kind, "resources": {"requests": {"cpu": amount}}} for kind, amount in before]
    _, (found,) = read(ask(pod("mesh", {"cpu": "1"}, spec={"initContainers": containers})), [])
    assert found.needs["cpu"] == cpu


def test_no_list_is_no_answer() -> None:
    with pytest.raises(DeviceError, match="/api/v1/pods can't be listed: forbidden"):
        read(lambda *_: (403, {"message": "forbidden"}), [])
