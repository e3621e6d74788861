# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of NUMA, against values with which a kubelet fails, or silently never admits a job's pods."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.cpus import cpu_list, unreadable
from ..core.faults import Fault
from .model import Nodes
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
        if max(cpus) >= build.cpus:
            continue
        if len(cpus) == build.cpus:
            yield Fault(key, build.reserved_cpus, "nothing would be left for jobs", "reserve fewer cores")
        elif missing := Machine.of(build).missing_threads(cpus):
            shown = ",".join(map(str, missing))
            reason = f"CPU {missing[0]} is the other thread of a reserved core (cpu_numbering: {build.cpu_numbering})"
            yield Fault(key, build.reserved_cpus, reason, f"add {shown}, or correct cpu_numbering")


def cpus_divide_by_numa_nodes(nodes: Nodes) -> Iterator[Fault]:
    """Views compute with equal NUMA nodes."""
    for name, build in nodes.classes.items():
        if build.sockets * build.cores_per_socket % build.numa_nodes:
            key, cores = f"drawbridge_nodes.classes.{name}.numa_nodes", build.sockets * build.cores_per_socket
            reason = f"the {cores} cores of the class are not divisible by it"
            yield Fault(key, build.numa_nodes, reason, "take the numbers that lscpu prints")


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
    reserved_cpus_are_whole_cores,
    cpus_divide_by_numa_nodes,
    hugepages_leave_memory,
)
