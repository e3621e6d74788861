# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which switches storage traffic can pass: the others need no class for it, and give no share of their links away."""

from __future__ import annotations

from ..core import hostlist, ports
from ..nodes.model import Nodes
from ..nodes.nics import STORAGE
from .cables.model import Cable, Cabling
from .model import Fabric


def carries_storage(fabric: Fabric, nodes: Nodes, switch: str) -> bool:
    """Whether storage traffic can pass a switch.

    It can't if cabling has each port of the switch and of all below it, and none of them is for storage. A cable to a
    node without storage NICs is for storage too. Behind a port that cabling does not have, there may be a server.
    """
    cabling = fabric.cabling
    if not (cabling and cabling.nodes):
        return True
    listed = {name: kind.ports for kind in fabric.switches for name in hostlist.expand(kind.names)}
    return any(
        name not in listed or _ends_here(cabling, nodes, name, listed[name]) for name in _and_below(cabling, switch)
    )


def _ends_here(cabling: Cabling, nodes: Nodes, switch: str, listed: str) -> bool:
    own = [cable for cable in cabling.nodes if hostlist.contains(cable.switches, switch)]
    known = [cable.ports for cable in own]
    for link in cabling.links:
        known += [link.lower_ports] if hostlist.contains(link.lower, switch) else []
        known += [link.upper_ports] if hostlist.contains(link.upper, switch) else []
    if {*ports.expand(listed)} - {port for text in known for port in ports.expand(text)}:
        return True
    return any(cable.purpose == STORAGE or _storage_takes_rails(nodes, cable) for cable in own)


def _storage_takes_rails(nodes: Nodes, cable: Cable) -> bool:
    """Whether one of these nodes has no storage NICs."""
    parts = {id(part): part for name in hostlist.expand(cable.nodes) if (part := nodes.by_name.get(name))}
    return any(not nodes.class_at(part).nics_for(STORAGE) for part in parts.values())


def _and_below(cabling: Cabling, switch: str) -> list[str]:
    """The switch, and all that links lead down to."""
    found = {switch: None}
    waiting = [switch]
    while waiting:
        name = waiting.pop()
        for link in cabling.links:
            if hostlist.contains(link.upper, name):
                lower = [it for it in hostlist.expand(link.lower) if it not in found]
                found.update(dict.fromkeys(lower))
                waiting += lower
    return list(found)
