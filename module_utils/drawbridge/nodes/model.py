# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes: their classes, and the class and leaf of each node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..core import hostlist
from ..core.faults import Fault, IntentError
from ..core.options import NAME, option

CPUS = r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*"
TOPOLOGY_POLICIES = ("none", "best-effort", "restricted", "single-numa-node")


@dataclass(frozen=True)
class Gpus:
    """The GPUs of a node."""

    type: str = option("Slurm's gres type, such as h100", pattern=r"[a-z0-9._-]+")
    numa: tuple[int, ...] = option("NUMA node of each GPU, in index order", low=0, high=63)
    vendor: str = option("their vendor: decides device files and Kubernetes resource", "nvidia", choices=("nvidia",))

    @property
    def count(self) -> int:
        """GPUs in the node."""
        return len(self.numa)


@dataclass(frozen=True)
class Nics:
    """The RDMA ports of a node, one a rail."""

    netdev: str = option("hostlist of the network devices, in rail order", hosts=True)
    rdma: str = option("hostlist of the RDMA devices, in rail order", hosts=True)
    numa: tuple[int, ...] = option("NUMA node of each port, in rail order", low=0, high=63)
    device: str = option(
        "PCI vendor and device of the ports, as `lspci -n` prints them, such as 15b3:1021 (empty: not compared)",
        "",
        pattern=r"([0-9a-f]{4}:[0-9a-f]{4})?",
    )

    @cached_property
    def netdevs(self) -> tuple[str, ...]:
        """Network devices in rail order."""
        return tuple(hostlist.expand(self.netdev))

    @cached_property
    def rdma_devices(self) -> tuple[str, ...]:
        """RDMA devices in rail order."""
        return tuple(hostlist.expand(self.rdma))


@dataclass(frozen=True)
class NodeClass:
    """Nodes with the same hardware."""

    sockets: int = option("CPU sockets", low=1, high=16)
    cores_per_socket: int = option("cores of a socket", low=1, high=512)
    memory_mib: int = option("memory as `slurmd -C` prints it (RealMemory)", low=1024)
    reserved_cpus: str = option("CPUs that jobs never get, whole cores, as a kernel CPU list", pattern=CPUS)
    reserved_memory_mib: int = option("memory that jobs never get", low=1024)
    gpus: Gpus = option("GPUs")
    nics: Nics = option("RDMA ports")
    threads_per_core: int = option("hardware threads of a core", 2, low=1, high=8)
    numa_nodes: int = option("NUMA nodes", 2, low=1, high=64)
    cpu_numbering: str = option(
        "numbers of a core's threads: apart (0 and 64 on 64 cores; see lscpu -e) or together (0 and 1)",
        "apart",
        choices=("apart", "together"),
    )
    hugepages_mib: int = option("huge pages of the host's own daemons, a part of reserved_memory_mib", 0, low=0)
    topology_policy: str = option(
        "kubelet's topologyManagerPolicy on these nodes; empty: drawbridge_kube.topology_policy",
        "",
        choices=("", *TOPOLOGY_POLICIES),
    )

    @property
    def cpus(self) -> int:
        """Hardware threads of the node."""
        return self.sockets * self.cores_per_socket * self.threads_per_core


@dataclass(frozen=True)
class Range:
    """Nodes that share a class and a leaf."""

    names: str = option("hostlist of the nodes, as in the inventory", hosts=True)
    node_class: str = option("name of their class", pattern=NAME)
    leaf: str = option("leaf switch that they are cabled to", pattern=NAME)


@dataclass(frozen=True)
class Nodes:
    """drawbridge_nodes: the nodes, their hardware and their leaf switches."""

    classes: dict[str, NodeClass] = option("node classes by name")
    ranges: tuple[Range, ...] = option("which node is of which class, on which leaf")

    @cached_property
    def by_name(self) -> dict[str, Range]:
        """The range of every node."""
        return {name: part for part in self.ranges for name in hostlist.expand(part.names)}

    def range_of(self, name: str) -> Range | None:
        """The range of one node, found without listing all; None for a name that no range has."""
        return next((part for part in self.ranges if hostlist.contains(part.names, name)), None)

    def class_of(self, name: str) -> NodeClass:
        """The class of a node. Raises IntentError for a name that no range has."""
        if part := self.range_of(name):
            return self.classes[part.node_class]
        repair = "add it to a range, or remove it from the group nodes"
        raise IntentError([Fault("drawbridge_nodes.ranges", name, "no range has this node", repair)])
