# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NUMA arithmetic: which CPUs are one core, and which policies ever admit a pod with a whole node.

A pod with a whole node has all GPUs, all CPUs that are not reserved and all memory that is not reserved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .model import NodeClass

MOST_NUMA_NODES = 8
"""On more NUMA nodes, kubelets start only with the policy `none`."""


@dataclass(frozen=True)
class Machine:
    """A node as the kubelet's managers see it."""

    cpus: int
    threads_per_core: int
    numbering: str
    """`apart`: the numbers of a core's threads differ by the number of cores; `together`: by one."""
    numa_nodes: int
    memory_mib: int
    gpus: tuple[int, ...]
    """NUMA node of each GPU."""

    @classmethod
    def of(cls, build: NodeClass) -> Machine:
        """The machine of a node class."""
        sizes = (build.numa_nodes, build.memory_mib, build.gpus.numa)
        return cls(build.cpus, build.threads_per_core, build.cpu_numbering, *sizes)

    @property
    def cores(self) -> int:
        """Cores of the whole machine."""
        return self.cpus // self.threads_per_core

    @property
    def cpus_of_a_node(self) -> int:
        """CPUs of one NUMA node."""
        return self.cpus // self.numa_nodes

    def core_of(self, cpu: int) -> int:
        """The core that a CPU is a thread of, counted socket by socket."""
        return cpu // self.threads_per_core if self.numbering == "together" else cpu % self.cores

    def threads_of(self, core: int) -> list[int]:
        """CPUs of a core."""
        if self.numbering == "together":
            return list(range(core * self.threads_per_core, (core + 1) * self.threads_per_core))
        return list(range(core, self.cpus, self.cores))

    def core_by_core(self, cpus: Iterable[int]) -> list[int]:
        """All CPUs of these cores, in Slurm's numbers: core by core, each with its threads."""
        cores = sorted({self.core_of(cpu) for cpu in cpus})
        return [core * self.threads_per_core + thread for core in cores for thread in range(self.threads_per_core)]

    def missing_threads(self, cpus: Iterable[int]) -> list[int]:
        """CPUs that are missing for the given ones to be whole cores."""
        given = set(cpus)
        return sorted({cpu for one in given for cpu in self.threads_of(self.core_of(one))} - given)


def never_admits(policy: str, machine: Machine, reserved_cpus: int, most_nodes: int = MOST_NUMA_NODES) -> str:
    """Why the topology manager's policy never admits a pod with the whole node; empty if it does.

    `restricted` requires that CPUs, memory and GPUs need the same NUMA nodes. All memory needs all of them, because the
    same amount is reserved on each. CPUs need as many as hold their number, reserved CPUs included.
    """
    count = machine.numa_nodes
    if count > most_nodes and policy != "none":
        return f"a kubelet starts with it on at most {most_nodes} NUMA nodes, and there are {count}"
    if count == 1 or policy not in ("restricted", "single-numa-node"):
        return ""
    if policy == "single-numa-node":
        return (
            f"a pod with the whole node needs all {count} NUMA nodes, and no pod that needs more than one is admitted"
        )
    with_gpus = sorted(set(machine.gpus))
    if with_gpus and len(with_gpus) < count:
        shown = ", ".join(map(str, with_gpus))
        return f"a pod with the whole node needs NUMA nodes {shown} for GPUs and all {count} for memory, never the same"
    left, fewer = machine.cpus - reserved_cpus, count - 1
    if left <= machine.cpus_of_a_node * fewer:
        return f"the {left} CPUs of a pod with the whole node fit on {fewer} of {count} NUMA nodes, its memory does not"
    return ""
