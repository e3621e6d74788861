# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of NUMA, against values with which a kubelet fails, or silently never admits a job's pods."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.cpu_order import ordered
from ..core.cpus import cpu_list, unreadable
from ..core.faults import Fault
from .model import NodeClass, Nodes
from .numa import Machine

DAEMONS_MIB = 1024
"""Least memory of a node's daemons, beside their huge pages."""


def reserved_cpus_are_whole_cores(nodes: Nodes) -> Iterator[Fault]:
    """A kubelet silently accepts half a core; then a pod and the daemons share it."""
    for name, build in nodes.classes.items():
        key = f"drawbridge_nodes.classes.{name}.reserved_cpus"
        if why := unreadable(build.reserved_cpus):
            yield Fault(key, build.reserved_cpus, why, "write one such as 0-3,64-67")
            continue
        cpus = cpu_list(build.reserved_cpus)
        if max(cpus) >= build.cpus or any(_numbering(name, build)):
            continue
        if len(cpus) == build.cpus:
            yield Fault(key, build.reserved_cpus, "nothing would be left for jobs", "reserve fewer cores")
        elif missing := Machine.of(build).missing_threads(cpus):
            shown = ",".join(map(str, missing))
            reason = f"CPU {missing[0]} is the other thread of a reserved core (cpu_numbering: {build.cpu_numbering})"
            yield Fault(key, build.reserved_cpus, reason, f"add {shown}, or correct cpu_numbering")


def cpus_are_numbered(nodes: Nodes) -> Iterator[Fault]:
    """Each CPU is in the order once. Slurm maps only numbers below the count of CPUs (xcpuinfo_hwloc_topo_get)."""
    for name, build in nodes.classes.items():
        yield from _numbering(name, build)


def _numbering(name: str, build: NodeClass) -> Iterator[Fault]:
    key, given = f"drawbridge_nodes.classes.{name}.cpu_numbering", build.cpu_numbering
    if given in ("apart", "together"):
        return
    cpus = ordered(given)
    right = f"list each of 0 to {build.cpus - 1} once"
    if beyond := [cpu for cpu in cpus if cpu >= build.cpus]:
        yield Fault(
            key, given, f"CPU {beyond[0]} does not exist on {build.cpus} CPUs (sockets x cores x threads)", right
        )
    elif lost := sorted(set(range(build.cpus)) - set(cpus)):
        yield Fault(key, given, f"CPU {lost[0]} is not in it", right)
    elif len(cpus) > build.cpus:
        yield Fault(key, given, "it has a CPU twice", right)


def numa_nodes_exist(nodes: Nodes) -> Iterator[Fault]:
    """Numbers of NUMA nodes without CPUs or memory are those of nodes, and daemons have a NUMA node with both."""
    for name, build in nodes.classes.items():
        machine, key = Machine.of(build), f"drawbridge_nodes.classes.{name}"
        last = machine.numa_numbers[-1]
        for part in ("numa_without_cpus", "numa_without_memory"):
            given = getattr(build, part)
            if why := unreadable(given) if given else "":
                yield Fault(f"{key}.{part}", given, why, "write one such as 2-3")
            elif given and cpu_list(given)[-1] > last:
                reason = f"{last + 1} NUMA nodes have the numbers 0 to {last}"
                yield Fault(f"{key}.{part}", given, reason, f"use 0 to {last}, or correct numa_nodes")
        if not machine.reservable:
            reason = "no NUMA node would have CPUs and memory, and daemons need both"
            yield Fault(
                f"{key}.numa_without_memory", build.numa_without_memory, reason, "take what lscpu and numactl -H print"
            )


def cpus_divide_by_numa_nodes(nodes: Nodes) -> Iterator[Fault]:
    """Views compute with equal NUMA nodes."""
    for name, build in nodes.classes.items():
        if build.cores % build.numa_nodes:
            key = f"drawbridge_nodes.classes.{name}.numa_nodes"
            reason = f"the {build.cores} cores of the class are not divisible by it"
            yield Fault(key, build.numa_nodes, reason, "count the NUMA nodes for which lscpu prints CPUs")


def hugepages_leave_memory(nodes: Nodes) -> Iterator[Fault]:
    """Huge pages are a part of the reserved memory; the daemons use the rest."""
    for name, build in nodes.classes.items():
        rest = build.reserved_memory_mib - build.hugepages_mib
        if rest < DAEMONS_MIB:
            key = f"drawbridge_nodes.classes.{name}.hugepages_mib"
            reason = (
                f"of reserved_memory_mib {build.reserved_memory_mib} the node's daemons would keep {max(rest, 0)} MiB"
            )
            repair = f"raise reserved_memory_mib to at least {build.hugepages_mib + DAEMONS_MIB}"
            yield Fault(key, build.hugepages_mib, reason, repair)


RULES = (
    cpus_are_numbered,
    numa_nodes_exist,
    reserved_cpus_are_whole_cores,
    cpus_divide_by_numa_nodes,
    hugepages_leave_memory,
)
