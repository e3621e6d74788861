# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The cables of the fabric, expanded: which port of which switch goes to which node, rail or switch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..core import hostlist, ports
from ..nodes.model import Nodes
from ..nodes.nics import RAILS
from .cables.model import Cable, Cabling, Link


@dataclass(frozen=True)
class NodePort:
    """A switch port that goes to a node."""

    switch: str
    port: str
    node: str
    purpose: str
    numbers: tuple[int, ...]
    """The port among those of the node's NICs with this purpose; all ports of a bond, if it ends in a port-channel."""


@dataclass(frozen=True)
class SwitchPorts:
    """A cable between two switches."""

    lower: str
    lower_port: str
    upper: str
    upper_port: str


class CablingError(ValueError):
    """Lists of a cabling entry don't fit each other; the message has the reason."""

    def __init__(self, reason: str, repair: str = "list one port for each cable, node by node, in rail order") -> None:
        super().__init__(reason)
        self.repair = repair


def node_ports(cabling: Cabling, nodes: Nodes) -> list[NodePort]:
    """All ports that go to nodes. Raises CablingError, also for nodes that the intent does not have."""
    found: list[NodePort] = []
    storage: dict[str, int] = {}
    for cable in cabling.nodes:
        for item in _node_ports(cable, nodes):
            numbers = item.numbers
            if cable.purpose != RAILS:
                numbers = (storage.get(item.node, 0),)
                storage[item.node] = numbers[0] + 1
            found.append(NodePort(item.switch, item.port, item.node, item.purpose, numbers))
    return found


def _node_ports(cable: Cable, nodes: Nodes) -> Iterator[NodePort]:
    names = hostlist.expand(cable.nodes)
    listed = ports.expand(cable.ports)
    for switch in hostlist.expand(cable.switches):
        bonds = list(_bonds(cable, nodes, names, switch))
        ends = [(node, (number,)) for node, bond in bonds for number in bond]
        if len(listed) not in (len(ends), len(bonds)):
            raise CablingError(f"{switch} has {len(listed)} ports for {len(ends)} cables to {cable.nodes}")
        for port, (node, numbers) in zip(listed, ends if len(listed) == len(ends) else bonds):
            yield NodePort(switch, port, node, cable.purpose, numbers)


def _bonds(cable: Cable, nodes: Nodes, names: Sequence[str], switch: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Ports of nodes' rails on a switch, those of a bond together; storage NICs have one cable in each entry."""
    if cable.purpose != RAILS:
        yield from ((name, (0,)) for name in names)
        return
    # nodes of one range, which follow each other, have the same ports
    for part, some in groupby(names, nodes.by_name.get):
        node, *others = some
        if part is None:
            raise CablingError(f"drawbridge_nodes.ranges has no {node}", "correct the name, or add it to a range")
        nics = nodes.class_at(part).nics_for(RAILS)
        here = [number for number, leaf in enumerate(part.port_leaves(nics)) if leaf == switch]
        if not (nics and here):
            reason = f"{node} has no rail on {switch} (its leaves are {part.leaves or 'none'})"
            raise CablingError(reason, f"move {node} to an entry of its leaf, or correct leaves of its range")
        bond = nics.ports_per_device
        ends = [tuple(numbers) for _rail, numbers in groupby(here, lambda number, size=bond: number // size)]
        yield from ((name, numbers) for name in (node, *others) for numbers in ends)


def neighbours(cables: Iterable[NodePort], nodes: Nodes, name: str) -> dict[str, tuple[str, str]]:
    """Switch and port behind each port of a node's rails, as LLDP must show them.

    The port is empty if the intent has no cabling, or a port-channel: LLDP shows the ports of that.
    """
    part = nodes.range_of(name)
    nics = nodes.class_at(part).nics_for(RAILS) if part else None
    if not (part and nics):
        return {}
    found = {device: (leaf, "") for device, leaf in zip(nics.ports, part.port_leaves(nics))}
    own = [it for it in cables if it.node == name and it.purpose == RAILS and len(it.numbers) == 1]
    return {**found, **{nics.ports[it.numbers[0]]: (it.switch, it.port) for it in own}}


def switch_links(cabling: Cabling) -> list[SwitchPorts]:
    """All cables between switches. Raises CablingError."""
    return [item for link in cabling.links for item in _links(link)]


def _links(link: Link) -> Iterator[SwitchPorts]:
    lower, upper = hostlist.expand(link.lower), hostlist.expand(link.upper)
    down, up = ports.expand(link.lower_ports), ports.expand(link.upper_ports)
    each = len(down) // len(upper)
    if not each or len(down) != each * len(upper):
        raise CablingError(f"{len(down)} ports of a lower switch can't be divided among {len(upper)} upper ones")
    if len(up) != each * len(lower):
        raise CablingError(
            f"an upper switch needs {each * len(lower)} ports for {len(lower)} lower ones, not {len(up)}"
        )
    for low, lower_name in enumerate(lower):
        for high, upper_name in enumerate(upper):
            for number in range(each):
                yield SwitchPorts(lower_name, down[high * each + number], upper_name, up[low * each + number])
