# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A machine's CPUs as keys of a node class. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.converge import DeviceError
from ..core.cpu_order import in_order
from ..core.cpus import cpu_ranges
from .numa import Machine


@dataclass(frozen=True)
class Cpu:
    """One CPU as /sys describes it."""

    socket: str
    core: tuple[int, ...]
    """All CPUs of its core."""
    l3: str
    """The CPUs that share its L3 cache; empty if it has none."""


def keys(cpus: Mapping[int, Cpu], numa: Mapping[int, list[int]], with_memory: list[int]) -> dict[str, Any]:
    """Keys of a node class. `numa` has the CPUs of each NUMA node.

    Raises DeviceError for a machine that no node class describes.
    """
    if sorted(cpus) != list(range(len(cpus))):
        shown = (
            f"its {len(cpus)} CPUs have the numbers {cpu_ranges(cpus)}, and Slurm maps only numbers below their count"
        )
        raise DeviceError(f"{shown}; switch threads off in the firmware, not in Linux")
    cores = _in_slurms_order(cpus, numa)
    sockets, l3 = {cpu.socket for cpu in cpus.values()}, {cpu.l3 for cpu in cpus.values()} - {""}
    with_cpus = [number for number, own in numa.items() if own]
    found = {
        "sockets": len(sockets),
        "cores_per_socket": _equal("sockets", "cores", (_count(cores, cpus, socket) for socket in sockets)),
        "threads_per_core": _equal("cores", "threads", map(len, cores)),
        "numa_nodes": len(with_cpus),
        "numa_without_cpus": cpu_ranges(set(numa) - set(with_cpus)),
        "numa_without_memory": cpu_ranges(set(numa) - set(with_memory)),
        "l3_caches": len(l3),
        "cpu_numbering": _numbering(cores),
    }
    _equal("NUMA nodes", "CPUs", (len(numa[number]) for number in with_cpus))
    sizes = (len(cpus), found["threads_per_core"], found["cpu_numbering"], found["numa_nodes"])
    machine = Machine(*sizes, 0, (), found["numa_without_cpus"])
    if sorted(numa) != machine.numa_numbers:
        raise DeviceError(
            f"NUMA nodes have the numbers {cpu_ranges(numa)}, and a node class counts from 0 without gaps"
        )
    for number in with_cpus:
        own = sorted(cpu for core in machine.cores_of(number) for cpu in machine.threads_of(core))
        if own != sorted(numa[number]):
            shown = f"NUMA node {number} has the CPUs {cpu_ranges(numa[number])}"
            raise DeviceError(f"{shown}, but by its first CPU it would have {cpu_ranges(own)}")
    return found


def _in_slurms_order(cpus: Mapping[int, Cpu], numa: Mapping[int, list[int]]) -> list[tuple[int, ...]]:
    """Cores as hwloc orders them for Slurm: sockets, NUMA nodes, L3 caches and cores, each by its first CPU."""
    first: dict[tuple[str, str], int] = {}
    places = {cpu: str(number) for number, own in numa.items() for cpu in own}
    levels = {cpu: (("socket", one.socket), ("numa", places.get(cpu, "")), ("l3", one.l3)) for cpu, one in cpus.items()}
    for cpu in sorted(cpus):
        for level in levels[cpu]:
            first.setdefault(level, cpu)
    whole = {one.core for one in cpus.values()}
    return sorted(whole, key=lambda core: (*(first[level] for level in levels[core[0]]), core[0]))


def _numbering(cores: list[tuple[int, ...]]) -> str:
    """The key cpu_numbering: a word for an usual order, else the order itself."""
    threads = min(map(len, cores))
    order = [core[thread] for thread in range(threads) for core in cores]
    if order == list(range(len(order))):
        return "apart"
    return "together" if [cpu for core in cores for cpu in core] == sorted(order) else in_order(order)


def _count(cores: list[tuple[int, ...]], cpus: Mapping[int, Cpu], socket: str) -> int:
    return sum(cpus[core[0]].socket == socket for core in cores)


def _equal(wholes: str, parts: str, counts: Iterable[int]) -> int:
    """The count that all have. Raises DeviceError if they differ."""
    found = sorted(set(counts))
    if len(found) > 1:
        raise DeviceError(f"its {wholes} have {' or '.join(map(str, found))} {parts}, and a node class has equal ones")
    return found[0]
