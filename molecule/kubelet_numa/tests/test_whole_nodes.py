# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every policy on every kind of machine: what we call good admits a pod with the whole node, what we refuse never does.

The kubelet, its managers and its device manager are real; the machine is on paper. POLICIES=all tries every pair, for
minutes; otherwise those that tell the most.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.cpus import cpu_list
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.view import kubelet
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.numa import Machine, never_admits
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part

from lab.machine.hardware import Hardware
from tests.unit.module_utils.site.test_refused import site
from tests.waiting import until

from .conftest import PATIENCE_S, dress, has_devices, send, wear

pytestmark = pytest.mark.usefixtures("wardrobe")
GIB = 1 << 20  # in KiB
DISK = {"nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%", "imagefs.inodesFree": "0%"}
TAINT = {"key": "drawbridge.io/slurm", "operator": "Exists"}


@dataclass(frozen=True)
class Build:
    """A kind of machine, and what its owner reserves of it."""

    hardware: Hardware
    reserved_cpus: str

    def view(self, policy: str) -> dict[str, Any]:
        """What role kubelet_numa makes of it."""
        nodes = site("lab")["drawbridge_nodes"]
        own = {
            "sockets": self.hardware.sockets,
            "cores_per_socket": self.hardware.cores_per_socket,
            "numa_nodes": self.hardware.numa_nodes,
            "memory_mib": self.hardware.memory_kb // 1024,
            "reserved_cpus": self.reserved_cpus,
            "topology_policy": policy,
            "gpus": {"type": "h100", "numa": list(self.hardware.gpu_numa)},
        }
        classes = {"h100": {**nodes["classes"]["h100"], **own}}
        return kubelet(
            part("nodes", {**nodes, "classes": classes}), part("kube", site("lab")["drawbridge_kube"]), "gpu01"
        )


def machine(numa: int, cores: int, gpus: tuple[int, ...]) -> Hardware:
    # a whole number of MiB on each node: a pod with all memory fits only if nothing is lost by rounding
    return Hardware(numa, cores, 2, 1024 * GIB // numa // 1024 * 1024 * numa, numa, "h100", gpus)


H100 = machine(2, 32, (0, 0, 0, 0, 1, 1, 1, 1))
BUILDS = {
    "two sockets": Build(H100, "0-3,64-67"),
    "two sockets, one of them reserved": Build(H100, "0-63"),
    "one socket": Build(machine(1, 32, (0, 0, 0, 0)), "0-3"),
    "four NUMA nodes": Build(machine(4, 8, (0, 0, 1, 1, 2, 2, 3, 3)), "0-1,16-17,32-33,48-49"),
    "four NUMA nodes, GPUs on two": Build(machine(4, 8, (0, 0, 0, 0, 2, 2, 2, 2)), "0-1,16-17,32-33,48-49"),
    "nine NUMA nodes": Build(machine(9, 4, tuple(range(9))), "0-1"),
}
POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
TELLING = [
    ("two sockets, one of them reserved", "restricted"),
    ("one socket", "single-numa-node"),
    ("four NUMA nodes, GPUs on two", "restricted"),
    ("nine NUMA nodes", "best-effort"),
]
"""Pairs that answer differently. What two sockets do is in tests/lab/kubernetes/test_live.py, and jobs of the whole
site have such nodes as a whole (scenario default)."""
TRIED = list(product(BUILDS, POLICIES)) if os.environ.get("POLICIES") == "all" else TELLING
worn: list[str] = []


def whole_node(name: str, allocatable: dict[str, str]) -> dict[str, Any]:
    """A Guaranteed pod with all that the node gives."""
    limits = {key: allocatable[key] for key in ("cpu", "memory", "nvidia.com/gpu")}
    container = {
        "name": "main",
        "image": "docker.io/lab/python:3",
        "imagePullPolicy": "Never",
        "command": ["python3", "-c", "import os; print(os.environ['NVIDIA_VISIBLE_DEVICES'])"],
        "resources": {"limits": limits},
    }
    spec = {"nodeName": "gpu01", "restartPolicy": "Never", "tolerations": [TAINT], "containers": [container]}
    return {"metadata": {"name": name}, "spec": {**spec, "automountServiceAccountToken": False}}


def allocatable(api: Any, want: dict[str, str]) -> dict[str, str] | None:
    """What the node gives, once its kubelet has told of this machine."""
    found = api.read_node("gpu01").status.allocatable
    return found if all(found.get(key) == value for key, value in want.items()) else None


@pytest.mark.parametrize(("build", "policy"), TRIED)
def test_accepted_settings_run_and_refused_ones_fail(api: Any, build: str, policy: str) -> None:
    chosen, view = BUILDS[build], BUILDS[build].view(policy)
    if worn[-1:] != [build]:
        dress(chosen.hardware)
        worn.append(build)
    reserved = len(cpu_list(chosen.reserved_cpus))
    refused = never_admits(policy, Machine(**view["options"]["machine"]), reserved)
    config = {**view["config"], "evictionHard": {**view["config"]["evictionHard"], **DISK}}
    if "a kubelet starts with it" in refused:
        text = "unsupported on machines with more than 8 NUMA Nodes"
        wear({key: value for key, value in config.items() if key != "topologyManagerPolicyOptions"})
        until(lambda: text in send("journalctl -u kubelet -n 30 -o cat --no-pager"), PATIENCE_S, "the kubelet dies")
        wear(config)
        until(has_devices, PATIENCE_S, "a kubelet with the option has devices")
        return
    wear(config)
    cpus, gpus = str(chosen.hardware.cpus - reserved), str(len(chosen.hardware.gpu_numa))
    until(has_devices, PATIENCE_S, "the kubelet has devices")
    given = until(lambda: allocatable(api, {"cpu": cpus, "nvidia.com/gpu": gpus}), PATIENCE_S, "the node tells")
    api.create_namespaced_pod("default", whole_node("whole", given))
    try:
        phase = until(lambda: ended(api), PATIENCE_S, "the pod ends")
        log = api.read_namespaced_pod_log("whole", "default") if phase == ("Succeeded", None) else ""
    finally:
        api.delete_namespaced_pod("whole", "default", grace_period_seconds=0)
        until(lambda: not api.list_namespaced_pod("default").items, PATIENCE_S, "the pod is gone")
    assert phase == (("Failed", "TopologyAffinityError") if refused else ("Succeeded", None))
    assert log.count("GPU-") == (0 if refused else len(chosen.hardware.gpu_numa))


def ended(api: Any) -> tuple[str, str | None] | None:
    status = api.read_namespaced_pod("whole", "default").status
    return (status.phase, status.reason) if status.phase in ("Succeeded", "Failed") else None
