# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent as a node's kubelet needs it: NUMA policies, reservations that add up."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...core.names import CLOSED, EFFECT, TAINT
from ...nodes.model import Nodes
from ...nodes.numa import Machine
from ..model import Kube

EVICTION_MIB = 100  # the kubelet's own default for memory.available; part of what it holds back
BORN_CLOSED = {"key": TAINT, "value": CLOSED, "effect": EFFECT}


def kubelet(nodes: Nodes, kube: Kube, name: str) -> dict[str, Any]:
    """KubeletConfiguration of a node, without apiVersion and kind, its machine, and who joins it. Raises IntentError.

    The kubelet refuses to start unless the reservations by NUMA node add up to system, kube and eviction reserve. All
    three together and the huge pages, which it leaves alone by itself, are the intent's reserved_memory_mib, so that
    pods and Slurm leave the same memory alone.

    Who makes the node a member registers it closed: role kube_node's main configuration does. Where the site joins its
    nodes, this drop-in is all that a kubelet gets from us, and it says so instead.
    """
    build = nodes.class_of(name)
    reserved_mib = build.reserved_memory_mib - build.hugepages_mib
    kube_mib, system_mib = split(reserved_mib)
    birth = {"registerWithTaints": [BORN_CLOSED]} if kube.join == "site" else {}
    config = {
        **birth,
        "topologyManagerPolicy": build.topology_policy or kube.topology_policy,
        "topologyManagerScope": "pod",
        "cpuManagerPolicy": "static",
        "reservedSystemCPUs": build.reserved_cpus,
        "memoryManagerPolicy": "Static",
        "systemReserved": {"memory": f"{system_mib}Mi"},
        "kubeReserved": {"memory": f"{kube_mib}Mi"},
        "evictionHard": {"memory.available": f"{EVICTION_MIB}Mi"},
        "reservedMemory": [
            {"numaNode": node, "limits": {"memory": f"{share}Mi"}}
            for node, share in enumerate(shares(reserved_mib, build.numa_nodes))
        ],
    }
    return {"config": config, "machine": asdict(Machine.of(build)), "join": kube.join}


def split(reserved_mib: int) -> tuple[int, int]:
    """MiB for Kubernetes' daemons, a third, and for the system's, the rest; the eviction reserve is in neither."""
    kube_mib = (reserved_mib - EVICTION_MIB) // 3
    return kube_mib, reserved_mib - EVICTION_MIB - kube_mib


def shares(total_mib: int, numa_nodes: int) -> list[int]:
    """Equal shares of whole MiB; the first node takes what does not divide."""
    share, rest = divmod(total_mib, numa_nodes)
    return [share + rest] + [share] * (numa_nodes - 1)
