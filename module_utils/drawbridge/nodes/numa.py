# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NUMA arithmetic: which CPUs are one core, and which policies ever admit a pod with a whole node.

A pod with a whole node has all GPUs, all CPUs that are not reserved and all memory that is not reserved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from ..core.cpu_order import ordered
from ..core.cpus import cpu_list, cpu_ranges
from .model import NodeClass

MOST_NUMA_NODES = 8
"""On more NUMA nodes, kubelets start only with the policy `none`, or with MOST_OPTION. Those without CPUs count."""
MOST_OPTION = "max-allowable-numa-nodes"


@dataclass(frozen=True)
class Machine:
    """A node as Linux numbers it, for kubelets' managers and for Slurm.

    Linux numbers NUMA nodes with CPUs by their first CPU.
    """

    cpus: int
    threads_per_core: int
    numbering: str
    """`apart`: the numbers of a core's threads differ by the number of cores; `together`: by one; else a list."""
    numa_nodes: int
    """NUMA nodes with CPUs, of equal size."""
    memory_mib: int
    gpus: tuple[int, ...]
    """NUMA node of each GPU."""
    without_cpus: str = ""
    """Numbers of further NUMA nodes, which have only memory."""
    without_memory: str = ""

    @classmethod
    def of(cls, build: NodeClass) -> Machine:
        """The machine of a node class."""
        sizes = (build.numa_nodes, build.memory_mib, build.gpus.numa)
        without = (build.numa_without_cpus, build.numa_without_memory)
        return cls(build.cpus, build.threads_per_core, build.cpu_numbering, *sizes, *without)

    @property
    def cores(self) -> int:
        """Cores of the whole machine."""
        return self.cpus // self.threads_per_core

    @property
    def cpus_of_a_node(self) -> int:
        """CPUs of one NUMA node that has CPUs."""
        return self.cpus // self.numa_nodes

    @cached_property
    def numa_numbers(self) -> list[int]:
        """Numbers of all NUMA nodes."""
        return list(range(self.numa_nodes + len(_numbers(self.without_cpus))))

    @property
    def with_cpus(self) -> list[int]:
        """Numbers of the NUMA nodes that have CPUs."""
        return [number for number in self.numa_numbers if number not in _numbers(self.without_cpus)]

    @property
    def with_memory(self) -> list[int]:
        """Numbers of the NUMA nodes that have memory."""
        return [number for number in self.numa_numbers if number not in _numbers(self.without_memory)]

    @property
    def reservable(self) -> list[int]:
        """Numbers of the NUMA nodes with CPUs and memory, on which daemons run."""
        return [number for number in self.with_cpus if number in self.with_memory]

    @cached_property
    def order(self) -> list[list[int]]:
        """CPUs of each core, core by core as Slurm counts them: socket by socket, NUMA node by NUMA node."""
        if self.numbering == "together":
            firsts = range(0, self.cpus, self.threads_per_core)
            return [list(range(first, first + self.threads_per_core)) for first in firsts]
        cpus = range(self.cpus) if self.numbering == "apart" else ordered(self.numbering)
        return [list(cpus[core :: self.cores]) for core in range(self.cores)]

    @cached_property
    def _core_of(self) -> dict[int, int]:
        return {cpu: core for core, cpus in enumerate(self.order) for cpu in cpus}

    def core_of(self, cpu: int) -> int:
        """The core that a CPU is a thread of, as Slurm counts cores."""
        return self._core_of[cpu]

    def threads_of(self, core: int) -> list[int]:
        """CPUs of a core."""
        return self.order[core]

    def cores_of(self, numa: int) -> range:
        """Cores of a NUMA node, as Slurm counts them."""
        size = self.cores // self.numa_nodes
        parts = [range(first, first + size) for first in range(0, self.cores, size)]
        by_first_cpu = sorted(parts, key=lambda part: min(min(self.order[core]) for core in part))
        return by_first_cpu[self.with_cpus.index(numa)]

    def missing_threads(self, cpus: Iterable[int]) -> list[int]:
        """CPUs that are missing for the given ones to be whole cores."""
        given = set(cpus)
        return sorted({cpu for one in given for cpu in self.threads_of(self.core_of(one))} - given)

    @property
    def most_numa_nodes(self) -> int:
        """NUMA nodes on which a kubelet may start with a policy.

        For each pod it combines sets of NUMA nodes for CPUs, memory and devices: on the 8 nodes that Kubernetes allows,
        up to 2^24. Nodes without CPUs add no sets for CPUs, so there may be more of them.
        """
        count = len(self.numa_numbers)
        return max(count, MOST_NUMA_NODES) if self.numa_nodes + 2 * count <= 3 * MOST_NUMA_NODES else MOST_NUMA_NODES


def _numbers(text: str) -> list[int]:
    return cpu_list(text) if text else []


def never_admits(policy: str, machine: Machine, reserved_cpus: int, most_nodes: int = MOST_NUMA_NODES) -> str:
    """Why the topology manager's policy never admits a pod with the whole node; empty if it does.

    `restricted` requires that CPUs, memory and GPUs need the same NUMA nodes. All memory needs all of them, because the
    same amount is reserved on each. CPUs need as many as hold their number, reserved CPUs included.
    """
    count, with_memory = len(machine.numa_numbers), machine.with_memory
    if count > most_nodes and policy != "none":
        return f"a kubelet starts with it on at most {most_nodes} NUMA nodes, and there are {count}"
    if count == 1 or policy not in ("restricted", "single-numa-node"):
        return ""
    if policy == "single-numa-node":
        return (
            f"a pod with the whole node needs all {count} NUMA nodes, and no pod that needs more than one is admitted"
        )
    for what, needed in (("GPUs", sorted(set(machine.gpus))), ("CPUs", machine.with_cpus)):
        if needed and needed != with_memory:
            shown = ", ".join(map(str, needed))
            all_of_them = f"all {count}" if len(with_memory) == count else cpu_ranges(with_memory)
            needs = f"NUMA nodes {shown} for {what} and {all_of_them} for memory, never the same"
            return f"a pod with the whole node needs {needs}"
    left, fewer = machine.cpus - reserved_cpus, machine.numa_nodes - 1
    if left <= machine.cpus_of_a_node * fewer:
        return f"the {left} CPUs of a pod with the whole node fit on {fewer} of {count} NUMA nodes, its memory does not"
    return ""
