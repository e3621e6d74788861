# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the nodes: each node has one class and its leaves, and each class is possible hardware."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ..core import hostlist
from ..core.cpus import cpu_list, cpu_ranges
from ..core.faults import Fault, IntentError
from ..core.rules import doubled
from .model import Nodes
from .nics import MELLANOX, RAILS, Nics
from .numa import Machine


def nodes_are_listed_once(nodes: Nodes) -> Iterator[Fault]:
    """One node, one class, one set of leaves."""
    names = [name for part in nodes.ranges for name in hostlist.expand(part.names)]
    yield from doubled("drawbridge_nodes.ranges", names, "name every node in one range")


def classes_are_consistent(nodes: Nodes) -> Iterator[Fault]:
    """NUMA numbers exist, and reservations leave something."""
    for name, build in nodes.classes.items():
        key = f"drawbridge_nodes.classes.{name}"
        with_cpus = Machine.of(build).with_cpus
        parts = [("gpus", build.gpus.numa), *((f"nics[{at}]", it.numa) for at, it in enumerate(build.nics))]
        for part, numbers in parts:
            if beyond := sorted({number for number in numbers if number not in with_cpus}):
                reason = f"NUMA node {beyond[0]} does not exist with numa_nodes {build.numa_nodes}"
                if build.numa_without_cpus:
                    reason = f"no NUMA node {beyond[0]} has CPUs"
                repair = f"use {cpu_ranges(with_cpus)}, or set numa_nodes"
                yield Fault(f"{key}.{part}.numa", list(numbers), reason, repair)
        reserved = cpu_list(build.reserved_cpus)
        if reserved and max(reserved) >= build.cpus:
            reason = f"CPU {max(reserved)} does not exist on {build.cpus} CPUs (sockets x cores x threads)"
            repair = f"use CPUs from 0 to {build.cpus - 1}"
            yield Fault(f"{key}.reserved_cpus", build.reserved_cpus, reason, repair)
        if build.reserved_memory_mib >= build.memory_mib:
            reason = f"memory_mib is {build.memory_mib}, so nothing would be left for jobs"
            yield Fault(f"{key}.reserved_memory_mib", build.reserved_memory_mib, reason, "reserve less")


def nics_are_consistent(nodes: Nodes) -> Iterator[Fault]:
    """Devices pair up, bonds have equally many ports, and each purpose and each port is there once."""
    for name, build in nodes.classes.items():
        key = f"drawbridge_nodes.classes.{name}.nics"
        yield from doubled(key, [nics.purpose for nics in build.nics], "write one entry for each purpose")
        ports = [port for nics in build.nics for port in nics.ports]
        yield from doubled(key, ports, "name every port once")
        rdma = [device for nics in build.nics for device in nics.rdma_devices]
        yield from doubled(key, rdma, "name every RDMA device once")
        for at, nics in enumerate(build.nics):
            yield from _nics(f"{key}[{at}]", nics)


def routing_tables_are_free(nodes: Nodes) -> Iterator[Fault]:
    """Each device has a routing table of its own, and none of the kernel's."""
    for name, build in nodes.classes.items():
        tables: set[int] = set()
        for at, nics in enumerate(build.nics):
            key = f"drawbridge_nodes.classes.{name}.nics[{at}]"
            own = {nics.route_table + rail for rail in range(len(nics.netdevs))} if nics.route_table else set()
            if taken := sorted(own & {*KERNELS_TABLES}):
                reason = f"its {len(own)} devices reach table {taken[0]}, which is the kernel's"
                yield Fault(f"{key}.route_table", nics.route_table, reason, "begin at 1000")
            if taken := sorted(own & tables):
                reason, repair = f"table {taken[0]} is another device's", f"begin after {max(tables)}"
                yield Fault(f"{key}.route_table", nics.route_table, reason, repair)
            if nics.gateway and not nics.route_table:
                yield Fault(f"{key}.gateway", nics.gateway, "only a table has a gateway", "set route_table: 1000")
            tables |= own


KERNELS_TABLES = range(253, 256)
"""The tables default, main and local."""


def _nics(key: str, nics: Nics) -> Iterator[Fault]:
    netdevs, rdma = len(nics.netdevs), len(nics.rdma_devices)
    if not netdevs == rdma == len(nics.numa):
        counts = {"netdev": netdevs, "rdma": rdma, "numa": len(nics.numa)}
        reason = "every rail needs one network device, one RDMA device and one NUMA node"
        yield Fault(key, counts, reason, "list equally many of the three")
    if nics.members and (len(nics.ports) % netdevs or len(nics.ports) < 2 * netdevs):
        reason = f"{len(nics.ports)} ports can't be {netdevs} bonds of equally many ports, at least two"
        yield Fault(f"{key}.members", nics.members, reason, "list the ports of each bond, bond by bond")
    if nics.pci and len(nics.pci) != len(nics.ports):
        reason = f"there are {len(nics.ports)} ports ({', '.join(nics.ports)})"
        yield Fault(f"{key}.pci", list(nics.pci), reason, "list one PCI address for each port, in their order")
    if nics.read_request_bytes and nics.read_request_bytes not in READ_REQUESTS:
        repair = f"use one of: {', '.join(map(str, READ_REQUESTS))}"
        yield Fault(f"{key}.read_request_bytes", nics.read_request_bytes, "PCIe has no such size", repair)
    if nics.firmware and nics.vendor not in ("", MELLANOX):
        reason = f"mlxconfig sets parameters of NVIDIA's firmware alone, and device is {nics.device}"
        yield Fault(f"{key}.firmware", list(nics.firmware), reason, "remove firmware, or correct device")
    yield from doubled(f"{key}.pci", list(nics.pci), "list every address once")
    if nics.name_rails and not nics.pci:
        yield Fault(f"{key}.name_rails", True, "ports are found by their PCI addresses", NAMED)
    if nics.name_rails and (bad := [port for port in nics.ports if KERNELS_OWN.fullmatch(port)]):
        reason = f"the kernel gives names like {bad[0]} itself"
        yield Fault(f"{key}.name_rails", True, reason, "name the ports rail0, rail1, ...")


NAMED = "list pci: one address for each port, as lspci -D prints it, such as 0000:18:00.0"
READ_REQUESTS = tuple(128 << doubled for doubled in range(6))
KERNELS_OWN = re.compile(r"(eth|ib|wlan)[0-9]+")
"""Names that two devices could get at once during a boot."""


def ranges_have_a_class(nodes: Nodes) -> Iterator[Fault]:
    """A range's node class is defined."""
    for part in nodes.ranges:
        try:
            nodes.class_at(part)
        except IntentError as err:
            yield from err.faults


def leaves_divide_rails(nodes: Nodes) -> Iterator[Fault]:
    """One leaf for all rails, one for each, or one for equal groups; as many for a bond as it has members."""
    for index, part in enumerate(nodes.ranges):
        key, build = f"drawbridge_nodes.ranges[{index}].leaves", nodes.classes.get(part.node_class)
        if build is None or not part.leaf_names:
            continue
        nics, leaves = build.nics_for(RAILS), len(part.leaf_names)
        if nics is None:
            reason = f"class {part.node_class} has no NICs with purpose rails"
            yield Fault(key, part.leaves, reason, "leave out leaves, or list the class's nics")
        elif leaves not in (good := _leaf_counts(len(nics.netdevs), nics.ports_per_device)):
            reason = f"{len(nics.netdevs)} rails can't be divided among {leaves} leaves"
            if nics.members:
                reason += f", if each bond has one leaf for each of its {nics.ports_per_device} ports"
            yield Fault(key, part.leaves, reason, f"list {', '.join(map(str, good))} leaves, in rail order")
        elif again := _in_two_bonds(part.leaf_names, nics.ports_per_device):
            reason = f"{again[0]} has two groups of rails" if nics.members else f"it names {again[0]} twice"
            yield Fault(key, part.leaves, reason, "name each leaf for one group of neighbouring rails")


def _leaf_counts(rails: int, members: int) -> list[int]:
    """How many leaves such rails can have."""
    groups = [number for number in range(1, rails + 1) if rails % number == 0]
    return sorted({1, *(number * members for number in groups)})


def _in_two_bonds(leaves: Sequence[str], members: int) -> list[str]:
    """Leaves of more than one group: members of one bond may be on one leaf."""
    groups = [dict.fromkeys(leaves[at : at + members]) for at in range(0, len(leaves), members)]
    return [leaf for leaf, times in Counter(leaf for group in groups for leaf in group).items() if times > 1]


def addresses_match_names(nodes: Nodes) -> Iterator[Fault]:
    """One address for each node."""
    for index, part in enumerate(nodes.ranges):
        if not part.addresses:
            continue
        names, addresses = hostlist.count(part.names), hostlist.count(part.addresses)
        if names != addresses:
            key = f"drawbridge_nodes.ranges[{index}].addresses"
            reason = f"it has {addresses} addresses for {names} nodes"
            yield Fault(key, part.addresses, reason, "list one address for each node, in the order of names")
    listed = [address for part in nodes.ranges if part.addresses for address in hostlist.expand(part.addresses)]
    yield from doubled("drawbridge_nodes.ranges", listed, "give every node an address of its own")


RULES = (
    nodes_are_listed_once,
    classes_are_consistent,
    nics_are_consistent,
    routing_tables_are_free,
    ranges_have_a_class,
    leaves_divide_rails,
    addresses_match_names,
)
