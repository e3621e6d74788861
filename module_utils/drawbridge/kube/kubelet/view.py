# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the intent: a kubelet's NUMA policies, and reservations that add up."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...core.names import CLOSED, EFFECT, TAINT
from ...nodes.model import Nodes
from ...nodes.numa import MOST_NUMA_NODES, MOST_OPTION, Machine
from ..model import Kube

EVICTION_MIB = 100  # the kubelet's default for memory.available; part of the reserved memory
BORN_CLOSED = {"key": TAINT, "value": CLOSED, "effect": EFFECT}


def kubelet(nodes: Nodes, kube: Kube, name: str) -> dict[str, Any]:
    """The NUMA configuration of a node's kubelet.

    C(config), a KubeletConfiguration without apiVersion and kind. C(options), those of
    M(drawbridge.drawbridge.kubelet_config): this configuration, the machine, and who joins the node.
    """
    # A kubelet starts only if the reservations by NUMA node add up to system, kube and eviction reserve. With the huge
    # pages these are reserved_memory_mib, so that pods and Slurm leave the same memory free.
    build = nodes.class_of(name)
    machine, policy = Machine.of(build), build.topology_policy or kube.topology_policy
    reserved_mib = build.reserved_memory_mib - build.hugepages_mib
    kube_mib, system_mib = split(reserved_mib)
    larger = policy != "none" and len(machine.numa_numbers) > MOST_NUMA_NODES
    # where Drawbridge joins its nodes, the main configuration does this
    taints = {"registerWithTaints": [BORN_CLOSED]} if kube.join == "site" else {}
    config = {
        **taints,
        "topologyManagerPolicy": policy,
        **({"topologyManagerPolicyOptions": {MOST_OPTION: f"{len(machine.numa_numbers)}"}} if larger else {}),
        "topologyManagerScope": "pod",
        "cpuManagerPolicy": "static",
        "reservedSystemCPUs": build.reserved_cpus,
        "memoryManagerPolicy": "Static",
        "systemReserved": {"memory": f"{system_mib}Mi"},
        "kubeReserved": {"memory": f"{kube_mib}Mi"},
        "evictionHard": {"memory.available": f"{EVICTION_MIB}Mi"},
        "reservedMemory": [
            {"numaNode": node, "limits": {"memory": f"{share}Mi"}}
            for node, share in zip(machine.reservable, shares(reserved_mib, len(machine.reservable)))
        ],
    }
    options = {"derived": config, "machine": asdict(machine), "join": kube.join}
    return {"config": config, "options": options}


def split(reserved_mib: int) -> tuple[int, int]:
    """MiB for Kubernetes' daemons (a third) and for the system; the eviction reserve is in neither."""
    kube_mib = (reserved_mib - EVICTION_MIB) // 3
    return kube_mib, reserved_mib - EVICTION_MIB - kube_mib


def shares(total_mib: int, numa_nodes: int) -> list[int]:
    """Equal shares of whole MiB; the first node gets the remainder."""
    share, rest = divmod(total_mib, numa_nodes)
    return [share + rest] + [share] * (numa_nodes - 1)
