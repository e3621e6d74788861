# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes: their classes, and the class and leaf of each node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from ..core import hostlist
from ..core.cpu_order import ORDERED
from ..core.faults import Fault, IntentError
from ..core.options import FILE, HOSTS, LABEL, Shape, keyed, may_repeat, option
from .gpus.vendor import Vendor
from .gpus.vendors import DEFAULT, VENDORS
from .nics import NETDEV, RAILS, Nics
from .systems import SYSTEMS

CPUS = Shape(
    r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*",
    "a list of CPUs as the kernel writes it",
    "numbers and ranges, such as 0-1,64-65",
)
GPU_TYPE = Shape(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
    "a type of GPUs",
    "at most 63 letters, digits, dots, dashes and underscores, such as h100",
)
PRODUCT = Shape(
    r"[A-Za-z0-9]([A-Za-z0-9 ._()+/-]{0,61}[A-Za-z0-9)])?",
    "a product name",
    "at most 63 letters, digits, blanks and signs, as the driver prints it: NVIDIA H100 80GB HBM3",
)
NUMBERING = Shape(
    rf"apart|together|{ORDERED}(,{ORDERED})*",
    "an order of CPUs",
    "apart, together, or a list of numbers and ranges with steps, such as 0-15:1/2,1-15:1/2",
)
NUMA_NODES = Shape(
    r"[0-9]{1,3}(-[0-9]{1,3})?(,[0-9]{1,3}(-[0-9]{1,3})?)*", "a list of NUMA nodes", "numbers such as 2-3 or 1,3"
)
ADDRESS = Shape(
    r"[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?",
    "an address",
    "at most 253 letters, digits, dots, dashes and colons, such as 10.1.0.21, with a letter or digit at both ends",
)
PROFILE = Shape(
    r"[1-9][0-9]?g[.][0-9]{1,4}gb([+.-][a-z.+-]{1,12})?",
    "profiles of GPU instances",
    "slices and memory, such as 3g.40gb",
)
MINORS = (1 << 20) - 1
"""The kernel's last minor number."""
TOPOLOGY_POLICIES = ("none", "best-effort", "restricted", "single-numa-node")


@dataclass(frozen=True)
class GpuPartition:
    """Partition modes of AMD's GPUs. A drained node gets the compute mode; a person changes the memory mode."""

    compute: str = option(
        "compute partition mode of each GPU (empty: any). Each part is a GPU in numa and minors",
        "",
        choices=("", "SPX", "DPX", "TPX", "QPX", "CPX"),
    )
    memory: str = option("memory partition mode (empty: any)", "", choices=("", "NPS1", "NPS2", "NPS4", "NPS8"))


@dataclass(frozen=True)
class MigException:
    """GPUs of a node that are divided otherwise than the others."""

    gpus: tuple[int, ...] = option("indices of these GPUs", low=0, high=63)
    layout: Mapping[str, int] = keyed(
        option("instances of each by profile (empty: they stay whole)", MappingProxyType({}), low=1, high=7), PROFILE
    )


@dataclass(frozen=True)
class Mig:
    """Instances of GPUs (MIG). A node is divided only while it is drained, and again at each boot before slurmd."""

    layout: Mapping[str, int] = keyed(
        option(
            "instances of each GPU by profile, such as 3g.40gb: 2 (empty: GPUs stay whole)",
            MappingProxyType({}),
            low=1,
            high=7,
        ),
        PROFILE,
    )
    exceptions: tuple[MigException, ...] = option("GPUs with another layout", ())


@dataclass(frozen=True)
class Gpus:
    """The GPUs of a node."""

    type: str = option("Slurm's gres type with its capitals, such as h100", pattern=GPU_TYPE)
    numa: tuple[int, ...] = option("NUMA node of each GPU, in index order", low=0, high=63)
    vendor: str = option("their vendor: decides device files and Kubernetes resource", DEFAULT, choices=tuple(VENDORS))
    minors: tuple[int, ...] = option(
        "number of each GPU's device file (its minor number), in the order of numa (empty: 0, 1, 2 and so on). GPUs of"
        " amd need it",
        (),
        low=0,
        high=MINORS,
    )
    product: str = option(
        "product name that the driver reports, such as NVIDIA H100 80GB HBM3; limits of measurements follow from it"
        " (empty: they can't)",
        "",
        pattern=PRODUCT,
    )
    partition: GpuPartition = option("partition modes, which GPUs of amd have", GpuPartition())
    mig: Mig = option("instances into which GPUs are divided; they need product", Mig())
    shards: int = option(
        "jobs that may share each GPU as Slurm's gres/shard, without any wall between them (0: none)", 0, low=0, high=64
    )
    others: int = option("further GPUs of the node, which get no jobs, such as one for a display", 0, low=0, high=64)

    @property
    def count(self) -> int:
        """GPUs for jobs."""
        return len(self.numa)

    @property
    def present(self) -> int:
        """GPUs in the node, those without jobs included."""
        return self.count + self.others

    @cached_property
    def layouts(self) -> tuple[Mapping[str, int], ...]:
        """Instances of each GPU by profile, in index order; none of a whole one."""
        other = {gpu: part.layout for part in self.mig.exceptions for gpu in part.gpus}
        return tuple(other.get(gpu, self.mig.layout) for gpu in range(self.count))

    @property
    def divided(self) -> bool:
        """Whether a GPU is."""
        return any(self.layouts)

    @cached_property
    def resources(self) -> dict[str, int]:
        """What jobs may ask for: whole GPUs by their type, and instances by their profile, with the number of each."""
        found = Counter({self.type: sum(not layout for layout in self.layouts)})
        for layout in self.layouts:
            found.update(layout)
        return {name: count for name, count in found.items() if count}

    @property
    def devices(self) -> int:
        """GPUs and instances for jobs."""
        return sum(self.resources.values())

    @property
    def modes(self) -> dict[str, str]:
        """Partition modes that the intent names."""
        given = {"compute": self.partition.compute, "memory": self.partition.memory}
        return {key: mode for key, mode in given.items() if mode}

    @property
    def numbers(self) -> list[int]:
        """Numbers of the GPUs' device files, in index order."""
        return list(self.minors or range(self.count))

    @property
    def made_by(self) -> Vendor:
        """Their vendor's row of the table."""
        return VENDORS[self.vendor]


NO_GPUS = Gpus("none", ())


@dataclass(frozen=True)
class NodeClass:
    """Nodes with the same hardware."""

    sockets: int = option("CPU sockets", low=1, high=16)
    cores_per_socket: int = option("cores of a socket", low=1, high=512)
    memory_mib: int = option("memory as `slurmd -C` prints it (RealMemory)", low=1024)
    reserved_cpus: str = option("CPUs that jobs never get, whole cores, as a kernel CPU list", pattern=CPUS)
    reserved_memory_mib: int = option("memory that jobs never get", low=1024)
    gpus: Gpus = option("GPUs; without this key the nodes have none", NO_GPUS)
    nics: tuple[Nics, ...] = option("RDMA NICs, one entry for each purpose", ())
    threads_per_core: int = option("hardware threads of a core", 2, low=1, high=8)
    numa_nodes: int = option("NUMA nodes with CPUs", 2, low=1, high=64)
    numa_without_cpus: str = option("numbers of further NUMA nodes, which have no CPUs", "", pattern=NUMA_NODES)
    numa_without_memory: str = option("numbers of NUMA nodes that have no memory", "", pattern=NUMA_NODES)
    cpu_numbering: str = option(
        "numbers of CPUs: apart (core 0 is CPU 0 and 64 on 64 cores), together (CPU 0 and 1), or any other as a list."
        " The list, such as 0-15:1/2,1-15:1/2, has first threads of all cores, socket by socket, then second threads",
        "apart",
        pattern=NUMBERING,
    )
    l3_caches: int = option("L3 caches, for SlurmdParameters=l3cache_as_socket (0: not known)", 0, low=0, high=512)
    slurm_cpu: str = option(
        "what Slurm counts as a CPU: each hardware thread, or each core",
        "thread",
        choices=("thread", "core"),
    )
    hugepages_mib: int = option("huge pages of the host's own daemons, a part of reserved_memory_mib", 0, low=0)
    management_netdev: str = option(
        "NCCL's network device for sockets, no rail (empty: its choice)", "", pattern=NETDEV
    )
    nccl_topology_file: str = option("NCCL's topology file on the nodes (empty: it detects)", "", pattern=FILE)
    nccl_gid_index: int = option(
        "index of each rail's RoCE v2 GID with an IPv4 address, for NCCL before 2.21 (-1: NCCL finds it)",
        -1,
        low=-1,
        high=255,
    )
    topology_policy: str = option(
        "kubelet's topologyManagerPolicy; empty: drawbridge_kube.topology_policy", "", choices=("", *TOPOLOGY_POLICIES)
    )

    @property
    def cpus(self) -> int:
        """Hardware threads of the node."""
        return self.cores * self.threads_per_core

    @property
    def cores(self) -> int:
        """Cores of the node."""
        return self.sockets * self.cores_per_socket

    def nics_for(self, purpose: str) -> Nics | None:
        """The NICs with this purpose, if there are any."""
        return next((nics for nics in self.nics if nics.purpose == purpose), None)

    @property
    def rails(self) -> tuple[str, ...]:
        """Network devices of the rails, in rail order."""
        nics = self.nics_for(RAILS)
        return nics.netdevs if nics else ()


@dataclass(frozen=True)
class Range:
    """Nodes that share a class and leaf switches."""

    names: str = option("hostlist of the nodes, as in the inventory", hosts=HOSTS)
    node_class: str = option("name of their class", pattern=LABEL)
    leaves: str = may_repeat(
        option(
            "hostlist of the leaf switches of their rails, in rail order. One leaf is for all rails, one, or a group of"
            " equal size. Of bonds each member has one: leaf[01-02] for bonds over these two, leaf01,leaf01 for bonds"
            " that end on one of several (empty: no rails)",
            "",
            hosts=HOSTS,
        )
    )
    addresses: str = option(
        "hostlist of their addresses for Slurm (NodeAddr), in the order of names (empty: by name)", "", hosts=ADDRESS
    )

    @cached_property
    def leaf_names(self) -> tuple[str, ...]:
        """Leaf switches in rail order."""
        return tuple(hostlist.expand(self.leaves)) if self.leaves else ()

    @property
    def unit(self) -> str:
        """Name of the unit: nodes with the same leaves. Slurm's topology and waves of changes use units."""
        names = list(dict.fromkeys(self.leaf_names))
        return re.sub(r"[\[\]]", "", hostlist.compress(names)).replace(",", "_") or OFF_FABRIC

    def port_leaves(self, nics: Nics | None) -> list[str]:
        """The leaf of each port of these rails, in their order; none without rails, or if leaves can't be divided."""
        if not nics:
            return []
        rails, bond = len(nics.netdevs), nics.ports_per_device
        each = self.leaf_names * bond if len(self.leaf_names) == 1 else self.leaf_names
        if not (groups := len(each) // bond):
            return []
        return [each[rail * groups // rails * bond + member] for rail in range(rails) for member in range(bond)]


OFF_FABRIC = "off-fabric"
"""The unit of nodes without rails."""


@dataclass(frozen=True)
class Nodes:
    """drawbridge_nodes: the nodes, their hardware and their leaf switches."""

    classes: dict[str, NodeClass] = option("node classes by name")
    ranges: tuple[Range, ...] = option("which node is of which class, on which leaves")
    os: str = option("operating system of the nodes, the controller and the login hosts", "", choices=("", *SYSTEMS))

    @cached_property
    def by_name(self) -> dict[str, Range]:
        """The range of every node."""
        return {name: part for part in self.ranges for name in hostlist.expand(part.names)}

    @cached_property
    def units(self) -> dict[str, list[str]]:
        """Names of the nodes of each unit, in the order of the ranges."""
        found: dict[str, list[str]] = {}
        for part in self.ranges:
            found.setdefault(part.unit, []).extend(hostlist.expand(part.names))
        return found

    @cached_property
    def addresses(self) -> dict[str, str]:
        """NodeAddr of the nodes that have one."""
        parts = [part for part in self.ranges if part.addresses]
        return {
            name: address
            for part in parts
            for name, address in zip(hostlist.expand(part.names), hostlist.expand(part.addresses))
        }

    @property
    def gpu_vendors(self) -> list[Vendor]:
        """Rows of the vendors of the nodes' GPUs; the default's if no node has GPUs."""
        names = {build.gpus.vendor for build in self.classes.values() if build.gpus.present}
        return [VENDORS[name] for name in VENDORS if name in (names or {DEFAULT})]

    def range_of(self, name: str) -> Range | None:
        """The range of one node, found without listing all; None for a name that no range has."""
        return next((part for part in self.ranges if hostlist.contains(part.names, name)), None)

    def class_at(self, part: Range) -> NodeClass:
        """The class of a range. Raises IntentError for one that is not defined."""
        if found := self.classes.get(part.node_class):
            return found
        known = ", ".join(sorted(self.classes)) or "none yet"
        key = f"drawbridge_nodes.ranges[{self.ranges.index(part)}].node_class"
        raise IntentError([Fault(key, part.node_class, "no class has that name", f"use one of: {known}")])

    def class_of(self, name: str) -> NodeClass:
        """The class of a node. Raises IntentError for a name that no range has, and for a class that is not defined."""
        if part := self.range_of(name):
            return self.class_at(part)
        repair = "add it to a range, or remove it from the group nodes"
        raise IntentError([Fault("drawbridge_nodes.ranges", name, "no range has this node", repair)])
