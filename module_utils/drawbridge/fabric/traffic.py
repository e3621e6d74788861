# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whose traffic a change of a switch interrupts, and the order of switches in which such changes are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core import hostlist
from ..core import ports as port_lists
from ..nodes.model import Nodes
from ..nodes.use import ClusterUse
from .cabling import node_ports, switch_links
from .model import Channel, Fabric

ALL, QUIET, INTERRUPTING = "all", "quiet", "interrupting"
PHASES = (ALL, QUIET, INTERRUPTING)
"""Steps of one run: all; those that interrupt no traffic of jobs; those that do, by consent."""


@dataclass(frozen=True)
class Traffic:
    """What a run knows of the traffic on one switch, and what it may do to it."""

    behind: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Nodes whose traffic a port carries. Of a port that is not here, the intent does not say."""
    links: frozenset[str] = frozenset()
    """Ports that go to other switches."""
    use: ClusterUse = field(default_factory=ClusterUse)
    allowed: bool = False
    """Consent: traffic of jobs may stop."""
    consent: str = "may_flap_ports"
    """The variable that gives it."""
    phase: str = ALL
    no_nodes: bool = False
    """No node is behind any port."""

    def waits_for(self, ports: Sequence[str]) -> str:
        """Why traffic of these ports must not stop now, and what to do; empty if all nodes behind them are drained."""
        if self.no_nodes:
            return ""
        unknown = [port for port in ports if not self.behind.get(port)]
        nodes = dict.fromkeys(node for port in ports for node in self.behind.get(port, ()))
        used = {node: why for node in nodes if (why := self.use.why_not(node))}
        if not unknown and not used:
            return ""
        if used and self.use.why_unknown:
            who = f"{self.use.why_unknown}; run this again when it answers"
        elif used:
            first, *others = used
            more = f", and {len(others)} more nodes are in use" if others else ""
            who = f"{used[first]}{more}; drain {hostlist.in_order(list(used))} and run this again"
        else:
            named = port_lists.compress(unknown)
            who = f"the intent does not say who is behind {named}; add its cables to drawbridge_fabric.cabling"
        return f"{who}, or allow it with the line: {self.consent}: true"


NO_NODES = Traffic(no_nodes=True)
"""The traffic of a switch without nodes."""


def nodes_behind(fabric: Fabric, nodes: Nodes, switch: str) -> dict[str, list[str]]:
    """Nodes whose traffic each port and port-channel of a switch carries; see _behind_ports().

    A port-channel with a member of which the intent says nothing is not in it.
    """
    found = _behind_ports(fabric, nodes, switch)
    for channel in _channels(fabric, switch):
        members = [found.get(port, []) for port in channel.ports]
        if all(members):
            found[channel.name] = sorted({node for behind in members for node in behind})
    return found


def _channels(fabric: Fabric, switch: str) -> list[Channel]:
    kinds = [kind for kind in fabric.switches if hostlist.contains(kind.names, switch)]
    return [channel for kind in kinds for channel in kind.port_channels]


def _behind_ports(fabric: Fabric, nodes: Nodes, switch: str) -> dict[str, list[str]]:
    """Nodes whose traffic each port of a switch carries, from cabling.

    A port to another switch carries the traffic of all nodes below the lower one. Without cabling, each port of a
    leaf carries that of all nodes of the leaf. Each port of a spine carries that of all nodes on leaves.
    """
    if not (fabric.cabling and fabric.cabling.nodes):
        return _without_cabling(fabric, nodes, switch)
    own: dict[str, set[str]] = {}
    found: dict[str, list[str]] = {}
    for cable in node_ports(fabric.cabling, nodes):
        own.setdefault(cable.switch, set()).add(cable.node)
        if cable.switch == switch:
            found.setdefault(cable.port, []).append(cable.node)
    links = switch_links(fabric.cabling)
    lower: dict[str, set[str]] = {}
    for link in links:
        lower.setdefault(link.upper, set()).add(link.lower)
    for link in links:
        if switch in (link.lower, link.upper):
            port = link.lower_port if link.lower == switch else link.upper_port
            found[port] = sorted(_below(link.lower, own, lower))
    return found


def _without_cabling(fabric: Fabric, nodes: Nodes, switch: str) -> dict[str, list[str]]:
    kinds = [kind for kind in fabric.switches if hostlist.contains(kind.names, switch)]
    on_leaves = {name: part.leaf_names for name, part in nodes.by_name.items() if part.leaf_names}
    every = any(kind.tier == "spine" for kind in kinds)
    fed = sorted(name for name, leaves in on_leaves.items() if every or switch in leaves)
    return {port: fed for kind in kinds for port in port_lists.expand(kind.ports)} if fed else {}


def _below(switch: str, own: Mapping[str, set[str]], lower: Mapping[str, set[str]]) -> set[str]:
    """Nodes on a switch and on all switches below it."""
    found, queue, seen = set(own.get(switch, ())), list(lower.get(switch, ())), {switch}
    while queue:
        name = queue.pop()
        if name not in seen:
            seen.add(name)
            found |= own.get(name, set())
            queue += lower.get(name, ())
    return found


def link_ports(fabric: Fabric, switch: str) -> list[str]:
    """Ports and port-channels of a switch that go to other switches, as far as cabling has them."""
    ends = switch_links(fabric.cabling) if fabric.cabling else []
    both = [end for it in ends for end in ((it.lower, it.lower_port), (it.upper, it.upper_port))]
    own = [port for name, port in both if name == switch]
    return [*own, *(it.name for it in _channels(fabric, switch) if {*it.ports} & {*own})]


def rounds(fabric: Fabric, names: Iterable[str]) -> list[list[str]]:
    """The switches in two rounds: in the second, the second switch of each MLAG pair."""
    second = {hostlist.expand(pair)[-1] for kind in fabric.switches for pair in kind.pairs}
    chosen = list(names)
    return [[name for name in chosen if name not in second], [name for name in chosen if name in second]]


def waves(fabric: Fabric, nodes: Nodes, names: Iterable[str]) -> list[list[str]]:
    """The switches in the order of changes that interrupt traffic: leaves, then one spine after the other.

    Two leaves that serve one node are never in one wave, so that a node loses one rail at a time. Nor are both
    switches of an MLAG pair.
    """
    chosen = set(names)
    kinds = [(kind, name) for kind in fabric.switches for name in hostlist.expand(kind.names) if name in chosen]
    served = _served(fabric, nodes)
    leaves: list[tuple[list[str], set[str]]] = []
    for name in [name for kind, name in kinds if kind.tier == "leaf"]:
        own = served.get(name, set())
        wave = next((wave for wave in leaves if own and wave[1] and not own & wave[1]), None)
        if wave is None:
            leaves.append(([name], set(own)))
        else:
            wave[0].append(name)
            wave[1].update(own)
    return [*(wave for wave, _unused in leaves), *([name] for kind, name in kinds if kind.tier != "leaf")]


def _served(fabric: Fabric, nodes: Nodes) -> dict[str, set[str]]:
    """The nodes of each leaf. A pair is what both of its leaves serve."""
    found: dict[str, set[str]] = {}
    for name, part in nodes.by_name.items():
        for leaf in part.leaf_names:
            found.setdefault(leaf, set()).add(name)
    for cable in node_ports(fabric.cabling, nodes) if fabric.cabling else ():
        found.setdefault(cable.switch, set()).add(cable.node)
    for pair in (pair for kind in fabric.switches for pair in kind.pairs):
        for leaf in {*hostlist.expand(pair)} & {*found}:
            found[leaf].add(pair)
    return found
