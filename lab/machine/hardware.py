# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The pretended machine as a value, and the checks that keep it possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.errors import LabError

if TYPE_CHECKING:
    from lab.hosts.site import Machine


@dataclass(frozen=True)
class Hardware:
    """Sockets, memory and PCI devices of one kind of host; `gpu_numa[i]` is the NUMA node that GPU i hangs on."""

    sockets: int
    cores_per_socket: int
    threads_per_core: int
    memory_kb: int
    numa_nodes: int
    gpu_type: str = ""
    gpu_numa: tuple[int, ...] = ()
    rail_numa: tuple[int, ...] = ()
    store_numa: tuple[int, ...] = ()
    gpu_vendor: str = "nvidia"
    mig: bool = False
    """Its GPUs can be divided into instances: the host has the emulated NVML."""

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Hardware:
        """Read a kind's `hardware` from the site file; LabError names the key that makes it impossible."""
        lists = {key: tuple(raw.get(key, ())) for key in ("gpu_numa", "rail_numa", "store_numa")}
        hardware = cls(**{**raw, **lists})
        if hardware.sockets != hardware.numa_nodes:
            raise LabError(
                f"hardware.numa_nodes is {hardware.numa_nodes}, but each of the {hardware.sockets} sockets is given"
                f" one NUMA node: set it to {hardware.sockets}"
            )
        for key, nodes in lists.items():
            if nodes and max(nodes) >= hardware.numa_nodes:
                raise LabError(
                    f"hardware.{key} names NUMA node {max(nodes)}, but numa_nodes is {hardware.numa_nodes}:"
                    f" use 0 to {hardware.numa_nodes - 1}"
                )
        return hardware

    @classmethod
    def within(cls, vm: Machine) -> Hardware:
        """Return the GPUs of a virtual machine, beside its own processors."""
        near = tuple(gpu * vm.sockets // vm.gpus for gpu in range(vm.gpus))
        shape = (vm.sockets, vm.cpus // vm.sockets, 1, vm.memory_mib * 1024, vm.sockets)
        return cls(*shape, gpu_numa=near, gpu_vendor=vm.gpu_vendor, mig=vm.mig)

    @property
    def cpus(self) -> int:
        """Logical CPUs of the whole machine."""
        return self.sockets * self.cpus_per_node

    @property
    def cpus_per_node(self) -> int:
        """Logical CPUs of one socket, which is one NUMA node."""
        return self.cores_per_socket * self.threads_per_core

    def cpus_of(self, node: int) -> range:
        """Logical CPUs of a NUMA node; a core's threads are neighbours, as hwloc numbers a synthetic machine."""
        return range(node * self.cpus_per_node, (node + 1) * self.cpus_per_node)

    def siblings_of(self, cpu: int) -> range:
        """Logical CPUs of the core that `cpu` belongs to."""
        first = cpu // self.threads_per_core * self.threads_per_core
        return range(first, first + self.threads_per_core)

    @property
    def hwloc(self) -> str:
        """The machine in hwloc's synthetic notation."""
        return f"pack:{self.sockets} [numa] core:{self.cores_per_socket} pu:{self.threads_per_core}"


def cpu_list(cpus: range) -> str:
    """Write consecutive CPUs as the kernel does: `0-63`, or `5` for one."""
    return f"{cpus[0]}-{cpus[-1]}" if len(cpus) > 1 else str(cpus[0])
