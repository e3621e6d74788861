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
                yield Fault(
                    f"{key}.{part}.numa",
                    list(numbers),
                    f"NUMA node {beyond[0]} does not exist with numa_nodes {build.numa_nodes}",
                    f"use 0 to {build.numa_nodes - 1}, or set numa_nodes",
                )
        netdevs, rdma = len(build.nics.netdevs), len(build.nics.rdma_devices)
        if not netdevs == rdma == len(build.nics.numa):
            yield Fault(
                f"{key}.nics",
                {"netdev": netdevs, "rdma": rdma, "numa": len(build.nics.numa)},
                "every rail needs one network device, one RDMA device and one NUMA node",
                "list equally many of the three",
            )
        reserved = cpu_list(build.reserved_cpus)
        if reserved and max(reserved) >= build.cpus:
            yield Fault(
                f"{key}.reserved_cpus",
                build.reserved_cpus,
                f"CPU {max(reserved)} does not exist on {build.cpus} CPUs (sockets x cores x threads)",
                f"use CPUs from 0 to {build.cpus - 1}",
            )
        if build.reserved_memory_mib >= build.memory_mib:
            yield Fault(
                f"{key}.reserved_memory_mib",
                build.reserved_memory_mib,
                f"memory_mib is {build.memory_mib}, so nothing would be left for jobs",
                "reserve less",
            )


RULES = (
    nodes_are_listed_once,
    classes_are_consistent,
)
