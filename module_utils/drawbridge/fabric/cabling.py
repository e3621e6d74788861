# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The cables of the fabric, expanded: which port of which switch goes to which node, rail or switch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
    number: int
    """The rail, or the port of the node's storage NICs."""


@dataclass(frozen=True)
class SwitchPorts:
    """A cable between two switches."""

    lower: str
    lower_port: str
    upper: str
    upper_port: str


class CablingError(ValueError):
    """Lists of a cabling entry don't fit each other; the message has the reason."""


def node_ports(cabling: Cabling, nodes: Nodes) -> list[NodePort]:
    """All ports that go to nodes. Raises CablingError, also for nodes that the intent does not have."""
    found: list[NodePort] = []
    storage: dict[str, int] = {}
    for cable in cabling.nodes:
        for item in _node_ports(cable, nodes):
            number = item.number
            if cable.purpose != RAILS:
                number = storage.get(item.node, 0)
                storage[item.node] = number + 1
            found.append(NodePort(item.switch, item.port, item.node, item.purpose, number))
    return found


def _node_ports(cable: Cable, nodes: Nodes) -> Iterator[NodePort]:
    names = hostlist.expand(cable.nodes)
    listed = ports.expand(cable.ports)
    for switch in hostlist.expand(cable.switches):
        ends = [(node, number) for node in names for number in _numbers(cable, nodes, node, switch)]
        if len(ends) != len(listed):
            raise CablingError(f"{switch} has {len(listed)} ports for {len(ends)} cables to {cable.nodes}")
        for port, (node, number) in zip(listed, ends):
            yield NodePort(switch, port, node, cable.purpose, number)


def _numbers(cable: Cable, nodes: Nodes, node: str, switch: str) -> list[int]:
    """Rails of a node on a switch; storage NICs have one cable in each entry."""
    if cable.purpose != RAILS:
        return [0]
    part = nodes.by_name.get(node)
    if part is None:
        raise CablingError(f"drawbridge_nodes.ranges has no {node}")
    rails = len(nodes.class_at(part).rails)
    found = [rail for rail in range(rails) if part.leaf_names and part.leaf_of(rail, rails) == switch]
    if not found:
        raise CablingError(f"{node} has no rail on {switch} (its leaves are {part.leaves or 'none'})")
    return found


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
