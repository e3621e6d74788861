# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of one class as slurm.conf knows them: one line, one NodeSet, and what a CPU or a GPU of theirs brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...core import hostlist
from ...core.cpus import cpu_list, cpu_ranges
from ...nodes.model import NodeClass, Nodes
from ...nodes.numa import Machine
from .text import Record


@dataclass(frozen=True)
class Build:
    """Nodes that share one NodeName line."""

    name: str
    """Their class, which is their Feature and their NodeSet too."""
    nodes: str
    node_class: NodeClass

    @cached_property
    def members(self) -> frozenset[str]:
        """The nodes, one by one."""
        return frozenset(hostlist.expand(self.nodes))

    @cached_property
    def reserved_cpus(self) -> list[int]:
        """CPUs that no job gets, as Slurm counts them; pods never get them either."""
        return Machine.of(self.node_class).core_by_core(cpu_list(self.node_class.reserved_cpus))

    @property
    def cpus(self) -> int:
        """What jobs get."""
        return self.node_class.cpus - len(self.reserved_cpus)

    @property
    def cpus_per_gpu(self) -> int:
        """Whole cores, as Slurm gives no half ones: else the last GPU of a node would find too few."""
        threads = self.node_class.threads_per_core
        return self.cpus // threads // self.node_class.gpus.count * threads

    @property
    def memory_mib(self) -> int:
        """What jobs get."""
        return self.node_class.memory_mib - self.node_class.reserved_memory_mib


def builds(nodes: Nodes) -> list[Build]:
    """The classes that have nodes, with these as a hostlist."""
    names: dict[str, list[str]] = {}
    for part in nodes.ranges:
        names.setdefault(part.node_class, []).extend(hostlist.expand(part.names))
    return [Build(name, hostlist.compress(members), nodes.classes[name]) for name, members in names.items()]


def gres(node_class: NodeClass) -> str:
    """The node's GPUs as Gres= writes them; empty for none."""
    gpus = node_class.gpus
    return f"gpu:{gpus.type}:{gpus.count}" if gpus.count else ""


def node_line(build: Build) -> Record:
    """All of them, with what slurmd has to find on each."""
    node = build.node_class
    return {
        "NodeName": build.nodes,
        "CPUs": node.cpus,
        "Boards": 1,
        "SocketsPerBoard": node.sockets,
        "CoresPerSocket": node.cores_per_socket,
        "ThreadsPerCore": node.threads_per_core,
        "CpuSpecList": cpu_ranges(build.reserved_cpus),
        "RealMemory": node.memory_mib,
        "MemSpecLimit": node.reserved_memory_mib,
        "Gres": gres(node),
        "Feature": build.name,
    }


def members(names: Sequence[str], built: Sequence[Build]) -> str:
    """A partition's nodes: classes that it has as a whole by the names of their NodeSets, then the others."""
    left = set(names)
    whole = [build for build in built if left.issuperset(build.members)]
    left = left.difference(*(build.members for build in whole))
    rest = hostlist.compress([name for name in names if name in left])
    return ",".join([*(build.name for build in whole), *([rest] if rest else [])])


def job_defaults(built: Sequence[Build]) -> Record:
    """The fair part of the smallest node that a CPU or a GPU brings; without it one CPU would take all memory.

    Slurm gives a job with GPUs the memory of its GPUs, and any other job that of its CPUs.
    """
    default: dict[str, object] = {"DefMemPerCPU": min(build.memory_mib // build.cpus for build in built)}
    if with_gpus := [build for build in built if build.node_class.gpus.count]:
        default["DefCpuPerGPU"] = min(build.cpus_per_gpu for build in with_gpus)
        default["DefMemPerGPU"] = min(build.memory_mib // build.node_class.gpus.count for build in with_gpus)
    return default
