# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Where hosts differ from the intent: hardware against the node class, LLDP neighbours against cabling. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core import hostlist
from ..fabric.cabling import NodePort, neighbours, node_ports
from ..nodes.model import Gpus, NodeClass
from ..nodes.numa import Machine
from .describe_groups import Facts, in_order
from .model import Intent

CLASS = "drawbridge_nodes.classes"
CPUS = ("sockets", "cores_per_socket", "threads_per_core", "numa_nodes", "numa_without_cpus", "numa_without_memory")


@dataclass(frozen=True)
class Difference:
    """One key in which a host differs from the intent."""

    host: str
    key: str
    wanted: Any
    found: Any
    repair: str

    def __str__(self) -> str:
        return f"{self.host}: {self.key} is {self.wanted}, but the host has {self.found}; {self.repair}"


def differences(intent: Intent, hosts: Mapping[str, Facts]) -> list[Difference]:
    """Of all nodes that answered."""
    cabled = _cabled(intent)
    found: list[Difference] = []
    for host in in_order(hosts):
        if not (part := intent.nodes.range_of(host)):
            found.append(Difference(host, "drawbridge_nodes.ranges", "a range", "none", "add the host to a range"))
            continue
        build = intent.nodes.class_at(part)
        found += _class(host, f"{CLASS}.{part.node_class}", build, hosts[host])
        for netdev, want in neighbours(cabled.get(host, ()), intent.nodes, host).items():
            found += _cable(host, netdev, want, hosts[host]["neighbours"])
    return found


def folded(found: Sequence[Difference]) -> list[str]:
    """Sentences. Equal differences of many hosts are one, with a hostlist."""
    groups: dict[str, list[Difference]] = {}
    for one in found:
        groups.setdefault(repr((one.key, one.wanted, one.found, one.repair)), []).append(one)
    return [
        str(Difference(hostlist.compress([it.host for it in some]), first.key, first.wanted, first.found, first.repair))
        for some in groups.values()
        for first in some[:1]
    ]


def _class(host: str, key: str, build: NodeClass, facts: Facts) -> Iterator[Difference]:
    repair = f"repair the host, or correct {key}"
    yield from _cpus(host, key, build, facts["cpus"])
    if facts["memory_mib"] and facts["memory_mib"] < build.memory_mib:
        yield Difference(host, f"{key}.memory_mib", build.memory_mib, facts["memory_mib"], repair)
    yield from _gpus(host, f"{key}.gpus", build.gpus, facts["gpus"])
    yield from _nics(host, f"{key}.nics", build, facts)


def _gpus(host: str, key: str, wanted: Gpus, found: Sequence[Facts]) -> Iterator[Difference]:
    repair = f"repair the host, or correct {key.rpartition('.')[0]}"
    if len(found) != wanted.present:
        yield Difference(host, key, f"{wanted.present} GPUs", len(found), repair)
        return
    if others := sorted({gpu["vendor"] for gpu in found} - {wanted.vendor}):
        yield Difference(host, f"{key}.vendor", wanted.vendor, ", ".join(others), repair)
        return
    own = [gpu for gpu in found if gpu["minor"] in wanted.numbers] if wanted.others else found
    minors = [gpu["minor"] for gpu in own]
    if -1 not in minors and minors != wanted.numbers:
        yield Difference(host, f"{key}.minors", wanted.numbers, minors, repair)
        return
    for index, (layout, gpu) in enumerate(zip(wanted.layouts, own)):
        # the tool that prints names lists instances
        if gpu["name"] and dict(layout) != (has := gpu.get("instances", {})):
            yield Difference(host, f"{key}.mig", f"{dict(layout)} on GPU {index}", has, repair)
    for index, (want, gpu) in enumerate(zip(wanted.numa, own)):
        if gpu["numa"] not in (want, -1):
            yield Difference(host, f"{key}.numa[{index}]", want, f"{gpu['numa']} (GPU at {gpu['pci']})", repair)


def _cpus(host: str, key: str, build: NodeClass, cpus: Mapping[str, Any]) -> Iterator[Difference]:
    wrong = [name for name in CPUS if cpus and cpus[name] != getattr(build, name)]
    if cpus and not wrong:
        machine = Machine.of(build)
        if replace(machine, numbering=cpus["cpu_numbering"]).order != machine.order:
            wrong = ["cpu_numbering"]
        if build.l3_caches not in (0, cpus["l3_caches"]):
            wrong.append("l3_caches")
    for name in wrong:
        repair = f"repair the host, or correct {key}"
        yield Difference(host, f"{key}.{name}", getattr(build, name), cpus[name], repair)


def _nics(host: str, key: str, build: NodeClass, facts: Facts) -> Iterator[Difference]:
    there = {nic["netdev"]: nic for nic in facts["nics"]}
    for nics in build.nics:
        if nics.members:  # a bond; its own device has no PCI function
            continue
        for netdev, rdma, numa in zip(nics.netdevs, nics.rdma_devices, nics.numa):
            if netdev not in there:
                repair = "load the NIC's driver, or correct the name"
                yield Difference(host, f"{key}.netdev", netdev, "no RDMA port of this name", repair)
                continue
            nic = there[netdev]
            if nic["rdma"] != rdma:
                repair = "name it by a udev rule, or correct the intent"
                yield Difference(host, f"{key}.rdma of {netdev}", rdma, nic["rdma"], repair)
            if nic["numa"] not in (numa, -1):
                repair = "move the card, or correct the intent"
                yield Difference(host, f"{key}.numa of {netdev}", numa, nic["numa"], repair)
            if nics.device and nic["device"] not in (nics.device, ""):
                repair = "replace the card, or correct the intent"
                yield Difference(host, f"{key}.device of {netdev}", nics.device, nic["device"], repair)


def _cabled(intent: Intent) -> dict[str, list[NodePort]]:
    """The cables of each node."""
    cabling = intent.fabric.cabling if intent.fabric else None
    found: dict[str, list[NodePort]] = {}
    for end in node_ports(cabling, intent.nodes) if cabling else ():
        found.setdefault(end.node, []).append(end)
    return found


def _cable(
    host: str, netdev: str, want: tuple[str, str], neighbours: Mapping[str, Sequence[str]]
) -> Iterator[Difference]:
    """A rail without a neighbour is unknown, not wrong: not every switch sends LLDP."""
    if netdev not in neighbours:
        return
    switch, port = neighbours[netdev]
    if switch.split(".")[0] != want[0].split(".")[0] or (want[1] and port != want[1]):
        shown = " ".join(filter(None, want))
        yield Difference(host, f"cable of {netdev}", shown, f"{switch} {port}", "move the cable, or correct cabling")
