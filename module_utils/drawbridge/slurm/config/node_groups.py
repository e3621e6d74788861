# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of one class in slurm.conf: one line, one NodeSet, and the defaults of jobs per CPU and GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...core import hostlist
from ...core.cpus import cpu_list, cpu_ranges
from ...nodes.model import NodeClass, Nodes
from ...nodes.numa import Machine
from ..model import Slurm
from .text import Record


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that share one NodeName line."""

    name: str
    """The node class, also the name of the Feature and the NodeSet."""
    nodes: str
    node_class: NodeClass
    addresses: str = ""
    """Hostlist of NodeAddr, in the order of `nodes`; empty if all are reached by their names."""
    sockets: int = 1
    """Sockets as Slurm counts them."""

    @cached_property
    def members(self) -> frozenset[str]:
        """The nodes' names."""
        return frozenset(hostlist.expand(self.nodes))

    @property
    def cpus_of_a_core(self) -> int:
        """What Slurm counts as CPUs of a core."""
        return 1 if self.node_class.slurm_cpu == "core" else self.node_class.threads_per_core

    @cached_property
    def reserved_cpus(self) -> list[int]:
        """CPUs that no job and no pod gets, as Slurm counts them: core by core, each with its CPUs."""
        machine, each = Machine.of(self.node_class), self.cpus_of_a_core
        cores = sorted({machine.core_of(cpu) for cpu in cpu_list(self.node_class.reserved_cpus)})
        return [core * each + cpu for core in cores for cpu in range(each)]

    @property
    def cpus(self) -> int:
        """CPUs for jobs."""
        return self.node_class.cores * self.cpus_of_a_core - len(self.reserved_cpus)

    @property
    def cpus_per_gpu(self) -> int:
        """CPUs of whole cores for each GPU or instance: Slurm gives only whole cores, so the last one has its CPUs."""
        return self.cpus // self.cpus_of_a_core // self.node_class.gpus.devices * self.cpus_of_a_core

    def cores_near(self, numa: int) -> str:
        """Slurm's cores of the socket that has a NUMA node, without hyperthreads; empty if more than one has it.

        Slurm schedules GPUs by whole sockets. Since 24.11 slurmctld drains a node with a part of a socket, and since
        25.11 one with several but not all (_check_core_range_matches_sock). Earlier releases take whole sockets.
        """
        each = self.node_class.cores // self.sockets
        cores = Machine.of(self.node_class).cores_of(numa)
        first, last = cores[0] // each, cores[-1] // each
        return f"{first * each}-{(first + 1) * each - 1}" if first == last else ""

    @property
    def memory_mib(self) -> int:
        """Memory for jobs."""
        return self.node_class.memory_mib - self.node_class.reserved_memory_mib


def socket_key(name: str, slurm: Slurm) -> str:
    """The key of a node class with the number of its sockets as slurmd counts them with the site's parameters."""
    both = (slurm.settings.get("SlurmdParameters", ""), slurm.node_settings.get(name, {}).get("Parameters", ""))
    words = ",".join(both).lower()
    return (
        "l3_caches" if "l3cache_as_socket" in words else "numa_nodes" if "numa_node_as_socket" in words else "sockets"
    )


def node_groups(nodes: Nodes, slurm: Slurm) -> list[NodeGroup]:
    """The classes that have nodes."""
    names: dict[str, list[str]] = {}
    builds: dict[str, NodeClass] = {}
    for part in nodes.ranges:
        names.setdefault(part.node_class, []).extend(hostlist.expand(part.names))
        builds[part.node_class] = nodes.class_at(part)
    return [
        NodeGroup(
            *(name, hostlist.compress(members), builds[name], _addresses(nodes, members)),
            getattr(builds[name], socket_key(name, slurm)),
        )
        for name, members in names.items()
    ]


def _addresses(nodes: Nodes, members: Sequence[str]) -> str:
    known = nodes.addresses
    return hostlist.compress([known.get(name, name) for name in members]) if known.keys() & set(members) else ""


def gres(node_class: NodeClass) -> str:
    """The node's GPUs and their instances as in Gres=; empty for none.

    An untyped entry would make whole GPUs and instances interchangeable. slurmd gives shards the type of their GPU.
    """
    gpus = node_class.gpus
    shards = [f"shard:{gpus.type}:{gpus.shards * gpus.count}"] if gpus.shards and gpus.count else []
    return ",".join([*(f"gpu:{name}:{count}" for name, count in gpus.resources.items()), *shards])


def node_line(group: NodeGroup) -> Record:
    """The NodeName line: the hardware that slurmd must find on each node."""
    node = group.node_class
    return {
        "NodeName": group.nodes,
        "NodeAddr": group.addresses,
        "CPUs": node.cores * group.cpus_of_a_core,
        "Boards": 1,
        "SocketsPerBoard": group.sockets,
        "CoresPerSocket": node.cores // group.sockets,
        "ThreadsPerCore": node.threads_per_core,
        "CpuSpecList": cpu_ranges(group.reserved_cpus),
        "RealMemory": node.memory_mib,
        "MemSpecLimit": node.reserved_memory_mib,
        "Gres": gres(node),
        "Feature": group.name,
    }


def members(names: Sequence[str], groups: Sequence[NodeGroup]) -> str:
    """A partition's nodes: NodeSets of the classes that it holds completely, then the other nodes."""
    left = set(names)
    whole = [group for group in groups if left.issuperset(group.members)]
    left = left.difference(*(group.members for group in whole))
    rest = hostlist.compress([name for name in names if name in left])
    return ",".join([*(group.name for group in whole), *([rest] if rest else [])])


def job_defaults(groups: Sequence[NodeGroup]) -> Record:
    """Default memory and CPUs for each CPU and GPU, as the smallest node has them; else one CPU gets all memory.

    Slurm gives a job with GPUs the memory of its GPUs, and any other job the memory of its CPUs.
    """
    default: dict[str, object] = {"DefMemPerCPU": min(group.memory_mib // group.cpus for group in groups)}
    if with_gpus := [group for group in groups if group.node_class.gpus.count]:
        # with more instances than cores no whole core is left for each, and Slurm's own default is one
        if cpus := min(group.cpus_per_gpu for group in with_gpus):
            default["DefCpuPerGPU"] = cpus
        default["DefMemPerGPU"] = min(group.memory_mib // group.node_class.gpus.devices for group in with_gpus)
    return default
