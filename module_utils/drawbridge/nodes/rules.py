# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the nodes: each node has one class and one leaf, and each class is possible hardware."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist
from ..core.cpus import cpu_list
from ..core.faults import Fault
from ..core.rules import doubled
from .model import Nodes


def nodes_are_listed_once(nodes: Nodes) -> Iterator[Fault]:
    """One node, one class, one leaf."""
    names = [name for part in nodes.ranges for name in hostlist.expand(part.names)]
    yield from doubled("drawbridge_nodes.ranges", names, "name every node in one range")


def classes_are_consistent(nodes: Nodes) -> Iterator[Fault]:
    """NUMA numbers exist, rails pair up, reservations leave something."""
    for name, build in nodes.classes.items():
        key = f"drawbridge_nodes.classes.{name}"
        for part, numbers in (("gpus", build.gpus.numa), ("nics", build.nics.numa)):
            if beyond := sorted({number for number in numbers if number >= build.numa_nodes}):
                reason = f"NUMA node {beyond[0]} does not exist with numa_nodes {build.numa_nodes}"
                repair = f"use 0 to {build.numa_nodes - 1}, or set numa_nodes"
                yield Fault(f"{key}.{part}.numa", list(numbers), reason, repair)
        netdevs, rdma = len(build.nics.netdevs), len(build.nics.rdma_devices)
        if not netdevs == rdma == len(build.nics.numa):
            counts = {"netdev": netdevs, "rdma": rdma, "numa": len(build.nics.numa)}
            reason = "every rail needs one network device, one RDMA device and one NUMA node"
            yield Fault(f"{key}.nics", counts, reason, "list equally many of the three")
        reserved = cpu_list(build.reserved_cpus)
        if reserved and max(reserved) >= build.cpus:
            reason = f"CPU {max(reserved)} does not exist on {build.cpus} CPUs (sockets x cores x threads)"
            repair = f"use CPUs from 0 to {build.cpus - 1}"
            yield Fault(f"{key}.reserved_cpus", build.reserved_cpus, reason, repair)
        if build.reserved_memory_mib >= build.memory_mib:
            reason = f"memory_mib is {build.memory_mib}, so nothing would be left for jobs"
            yield Fault(f"{key}.reserved_memory_mib", build.reserved_memory_mib, reason, "reserve less")


RULES = (
    nodes_are_listed_once,
    classes_are_consistent,
)
