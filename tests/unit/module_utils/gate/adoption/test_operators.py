# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.operators import (
    SLINKY,
    intolerant,
    node_actors,
    setting_actors,
    workload_actors,
)

EXISTS = {"operator": "Exists"}


def workload(name: str, kind: str = "DaemonSet", namespace: str = "kube-system", **pod: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"kind": kind, "metadata": metadata, "spec": {"template": {"spec": pod}}}


def resource(kind: str, **spec: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": "main"}, "spec": spec}


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        *((name, "") for name in ("kured", "karpenter", "draino", "system-upgrade-controller")),
        *(("cluster-autoscaler", "-aws"), ("slurm-bridge", "-scheduler")),
    ],
)
def test_known_actors_are_named(name: str, suffix: str) -> None:
    (actor,) = workload_actors([workload(name + suffix, "Deployment"), workload("coredns", "Deployment")])
    assert actor.name == name
    assert actor.sentence.startswith(f"Deployment kube-system/{name}{suffix} ")


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (resource("ClusterPolicy"), "gpu-operator"),
        (resource("ClusterPolicy", driver={"enabled": True}), "gpu-operator"),
        (resource("ClusterPolicy", driver={"enabled": False}), ""),
        (resource("ClusterPolicy", driver={"upgradePolicy": {"autoUpgrade": False}}), ""),
        (resource("NicClusterPolicy"), ""),
        (resource("NicClusterPolicy", ofedDriver={"upgradePolicy": {"autoUpgrade": True}}), "network-operator"),
        (resource("SriovOperatorConfig"), "sriov-network-operator"),
        (resource("SriovOperatorConfig", disableDrain=True), ""),
        (resource("DeviceConfig", driver={"upgradePolicy": {"enable": True}}), "amd-gpu-operator"),
        (resource("DeviceConfig"), ""),
        (resource("DeviceConfig", driver={"enable": True}), "amd-driver"),
        (resource("DeviceConfig", configManager={"enable": True}), "amd-config-manager"),
        (resource("DeviceConfig", remediationWorkflow={"enable": True}), "amd-remediation"),
        (resource("DeviceConfig", testRunner={"enable": True}), "amd-test-runner"),
        (resource("DeviceConfig", draDriver={"enable": True}), "amd-dra-driver"),
        (resource("DeviceConfig", configManager={"enable": False}, devicePlugin={"enableDevicePlugin": True}), ""),
    ],
)
def test_an_operators_settings_decide(found: dict[str, Any], name: str) -> None:
    assert [actor.name for actor in setting_actors([found])] == ([name] if name else [])


def test_another_scheduler_has_left_its_mark() -> None:
    ours = {"metadata": {"name": "gpu01"}, "spec": {"taints": [{"key": SLINKY, "effect": "NoExecute"}]}}
    (actor,) = node_actors([ours, {"metadata": {"name": "gpu02"}, "spec": {}}])
    assert (actor.name, "on gpu01 shows" in actor.sentence) == ("slurm-bridge", True)
    assert node_actors([]) == []


@pytest.mark.parametrize(
    ("labels", "resources", "named"),
    [
        ({"nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.workload.config": "container"}, ["nvidia.com/gpu"], []),
        ({"nvidia.com/gpu.replicas": "4"}, ["nvidia.com/gpu"], ["gpu-sharing"]),
        ({}, ["nvidia.com/gpu.shared", "cpu"], ["gpu-sharing"]),
        ({"nvidia.com/mig-3g.40gb.replicas": "1"}, ["nvidia.com/mig-3g.40gb"], []),
        ({"nvidia.com/mig-3g.40gb.replicas": "2"}, ["nvidia.com/mig-3g.40gb"], ["gpu-sharing"]),
        ({}, ["nvidia.com/mig-3g.40gb.shared"], ["gpu-sharing"]),
        ({"example.com/app.replicas": "2"}, ["example.com/disk.shared"], []),
        ({"nvidia.com/gpu.workload.config": "vm-passthrough"}, [], ["gpu-machines"]),
        (None, [], []),
    ],
)
def test_gpus_that_are_shared_or_of_virtual_machines_are_named(
    labels: dict[str, str] | None, resources: list[str], named: list[str]
) -> None:
    node = {"metadata": {"name": "gpu01", "labels": labels}, "status": {"allocatable": dict.fromkeys(resources, "8")}}
    assert [actor.name for actor in node_actors([node])] == named


@pytest.mark.parametrize(
    ("tolerations", "named"),
    [
        ([], True),
        ([{"key": "nvidia.com/gpu", **EXISTS}], True),
        ([{"key": "drawbridge.io/slurm", "value": "closed"}], True),
        ([{**EXISTS, "effect": "NoExecute"}], True),
        ([EXISTS], False),
        ([{"key": "drawbridge.io/slurm", **EXISTS}], False),
        ([{"key": "drawbridge.io/slurm", **EXISTS, "effect": "NoSchedule"}], False),
    ],
)
def test_who_tolerates_every_state_can_follow(tolerations: list[dict[str, str]], named: bool) -> None:
    daemons = [workload("cni", tolerations=tolerations), workload("theirs", namespace="shop")]
    found = intolerant(daemons, ["kube-system"])
    assert [sentence.split()[1] for sentence in found] == (["kube-system/cni"] if named else [])
