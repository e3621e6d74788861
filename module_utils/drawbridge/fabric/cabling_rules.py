# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between nodes and the ports of their leaf switches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..core import hostlist, ports
from ..core.faults import Fault
from ..nodes.model import Nodes
from ..nodes.nics import RAILS, STORAGE
from .cables.model import Cabling
from .cabling import CablingError, NodePort, SwitchPorts, node_ports, switch_links
from .links import LINKS
from .model import Fabric

NODES = "drawbridge_fabric.cabling.nodes"


def leaves_have_ports_for_rails(fabric: Fabric, nodes: Nodes) -> Iterator[Fault]:
    """Without cabling only the numbers can be compared: a leaf has a port for each rail that it serves."""
    if fabric.cabling and fabric.cabling.nodes:
        return
    needed: Counter[str] = Counter()
    for part in nodes.ranges:
        build = nodes.classes.get(part.node_class)
        nics = build.nics_for(RAILS) if build else None
        # a bond may end in a port-channel, which is one port then
        ends = (
            {(leaf, at // nics.ports_per_device) for at, leaf in enumerate(part.port_leaves(nics))} if nics else set()
        )
        for leaf, _rail in ends:
            needed[leaf] += hostlist.count(part.names)
    for index, kind in enumerate(fabric.switches):
        present = len(_listed(kind.ports))
        short = [name for name in hostlist.expand(kind.names) if present < needed[name]]
        if short:
            reason = f"{short[0]} serves {needed[short[0]]} rails, and these are {present} ports"
            yield Fault(f"drawbridge_fabric.switches[{index}].ports", kind.ports, reason, "list all ports of nodes")


def cables_fit(fabric: Fabric, nodes: Nodes) -> Iterator[Fault]:
    """Each entry's lists fit each other; each port, rail and storage port is cabled once."""
    for index, cable in enumerate(fabric.cabling.nodes if fabric.cabling else ()):
        try:
            node_ports(Cabling(nodes=(cable,)), nodes)
        except (CablingError, ports.PortsError) as err:
            repair = err.repair if isinstance(err, CablingError) else "write ports such as Ethernet1-16, each once"
            yield Fault(f"{NODES}[{index}]", cable.ports, str(err), repair)
    for index, link in enumerate(fabric.cabling.links if fabric.cabling else ()):
        try:
            switch_links(Cabling(links=(link,)))
        except (CablingError, ports.PortsError) as err:
            repair = "list equally many ports for each switch of the other tier"
            yield Fault(f"{LINKS}[{index}]", link.lower_ports, str(err), repair)


def cables_are_listed_once(fabric: Fabric, nodes: Nodes) -> Iterator[Fault]:
    """A port has one cable, and so has each rail and each storage port."""
    found = _cables(fabric, nodes)
    if found is None:
        return
    cables, links = found
    used = [(it.switch, it.port) for it in cables]
    used += [end for it in links for end in ((it.lower, it.lower_port), (it.upper, it.upper_port))]
    if twice := [f"{switch} {port}" for (switch, port), count in Counter(used).items() if count > 1]:
        yield Fault(
            "drawbridge_fabric.cabling", twice, "two cables can't end in one port", "correct the lists of ports"
        )
    ends = Counter((it.node, it.purpose, number) for it in cables for number in it.numbers)
    if twice := [f"{node} {purpose} {number}" for (node, purpose, number), count in ends.items() if count > 1]:
        yield Fault(NODES, twice[0], "a port of a node has one cable", "name every node once for each leaf")
    wanted = {(name, RAILS, at) for name in nodes.by_name for at in range(len(_ports(nodes, name, RAILS)))}
    if fabric.cabling and fabric.cabling.nodes and (missing := sorted(wanted - ends.keys())):
        node, _unused, number = missing[0]
        reason = f"{_ports(nodes, node, RAILS)[number]} of {node} has no cable ({len(missing)} ports of rails in all)"
        yield Fault(NODES, node, reason, f"add {node} to an entry of its leaf")
    beyond = [it for it in cables if it.purpose == STORAGE and it.numbers[0] >= len(_ports(nodes, it.node, STORAGE))]
    if beyond:
        reason = f"{beyond[0].node} has {len(_ports(nodes, beyond[0].node, STORAGE))} storage NICs"
        yield Fault(NODES, beyond[0].node, reason, "list its nics with purpose storage, or fewer cables")


def cables_end_in_listed_ports(fabric: Fabric, nodes: Nodes) -> Iterator[Fault]:
    """A node's port carries the lossless class, and nodes are cabled to leaves. links has the ports of links."""
    found = _cables(fabric, nodes)
    if found is None:
        return
    cables, links = found
    listed = {name: set(_listed(kind.ports)) for kind in fabric.switches for name in hostlist.expand(kind.names)}
    known = ",".join(kind.names for kind in fabric.switches)
    leaves = {name for kind in fabric.switches if kind.tier == "leaf" for name in hostlist.expand(kind.names)}
    for key, ends in (
        (NODES, [(it.switch, it.port) for it in cables]),
        (LINKS, [end for it in links for end in ((it.lower, it.lower_port), (it.upper, it.upper_port))]),
    ):
        unknown = list(dict.fromkeys(switch for switch, _unused in ends if switch not in listed))
        if unknown:
            yield Fault(key, unknown, "drawbridge_fabric.switches has no such switch", f"use {known}")
    if outside := [f"{it.switch} {it.port}" for it in cables if it.port not in listed.get(it.switch, {it.port})]:
        reason = "drawbridge_fabric.switches does not list that port, so it would not carry the class"
        yield Fault(NODES, outside[0], reason, "add it to ports of the switch")
    if other := [it.switch for it in cables if it.switch in listed and it.switch not in leaves]:
        yield Fault(NODES, other[0], "nodes are cabled to leaves, and its tier is spine", "write tier: leaf")


def bonds_end_in_pairs(fabric: Fabric, nodes: Nodes) -> Iterator[Fault]:
    """A bond over two switches works only where these two share it: as an MLAG pair, or by EVPN."""
    pairs = [frozenset(hostlist.expand(pair)) for kind in fabric.switches for pair in kind.pairs]
    for index, part in enumerate(nodes.ranges):
        build = nodes.classes.get(part.node_class)
        nics = build.nics_for(RAILS) if build else None
        leaves, bond = part.port_leaves(nics), nics.ports_per_device if nics else 1
        ends = dict.fromkeys(frozenset(leaves[at : at + bond]) for at in range(0, len(leaves), bond))
        if alone := [names for names in ends if len(names) > 1 and names not in pairs]:
            named = " and ".join(sorted(alone[0]))
            reason = f"a bond would end on {named}, which drawbridge_fabric.switches does not have as a pair"
            repair = "add the two to pairs of their entry, or name one leaf for all members of a bond"
            yield Fault(f"drawbridge_nodes.ranges[{index}].leaves", part.leaves, reason, repair)


def _ports(nodes: Nodes, name: str, purpose: str) -> tuple[str, ...]:
    part = nodes.by_name.get(name)
    build = nodes.classes.get(part.node_class) if part else None
    nics = build.nics_for(purpose) if build else None
    return nics.ports if nics else ()


def _cables(fabric: Fabric, nodes: Nodes) -> tuple[list[NodePort], list[SwitchPorts]] | None:
    """All cables; None if another rule refuses the lists."""
    if not fabric.cabling:
        return [], []
    try:
        return node_ports(fabric.cabling, nodes), switch_links(fabric.cabling)
    except (CablingError, ports.PortsError, KeyError):
        return None


def _listed(text: str) -> list[str]:
    try:
        return ports.expand(text)
    except ports.PortsError:
        return []


RULES = (
    bonds_end_in_pairs,
    leaves_have_ports_for_rails,
    cables_fit,
    cables_are_listed_once,
    cables_end_in_listed_ports,
)
