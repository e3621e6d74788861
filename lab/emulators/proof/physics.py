# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The rate of a flow of RDMA packets between two rails, from facts about both ends, switches and other flows.

A switch is a dict that its emulator writes:

    neighbors   port -> [device, port]
    dscp        DSCP -> class; DSCP / 8 for others
    ports       port -> {up, mtu, trust, lossless, marks}, and `dscp` if it has its own

`trust` is whether the port trusts DSCP; `lossless` and `marks` are its classes with PFC and with ECN. A switch without
such a dict limits nothing: all packets pass, without loss.

Rates follow the facts of RoCE v2: 82 bytes of headers in each packet, PCIe writes of 256 bytes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Switches = Mapping[str, Mapping[str, Any]]
    PortOf = tuple[str, str]

PORT_GBPS = 400.0
ON_WIRE = 82
"""Bytes of a packet beside its payload: preamble, gap, Ethernet, IPv4, UDP, BTH, ICRC."""
IP_HEADERS = 60
"""Bytes of an IP packet beside its payload: IPv4, UDP, BTH, RETH, ICRC."""
MTUS = (4096, 2048, 1024, 512, 256)
KERNEL_HEADERS = 96
"""What the kernel subtracts from a network device's MTU before it chooses one of MTUS: iboe_get_mtu of Linux."""
REACHED = 0.99
"""Share of the ceiling that perftest reaches; the noise is around it."""
COLLAPSED = 0.4
"""Share of a congested link that is left to flows without a lossless class, which go back and send again."""
LOSSLESS_SHARE = 0.99
"""Share of a congested link with PFC or ECN at work."""
MILD = 4
"""Flows to one port up to which ECN alone slows the senders down; more of them are paused, too."""
DOWN, NO_ROUTE, HANG, LOST = "down", "no route", "hang", "lost"
"""Failures: the own port has no link; no path or GID; packets vanish; packets are too long for a hop."""
FIRST_US, SWITCH_US, READ = 1.9, 1.2, 1.7
"""Latency without a switch, of each switch with a cable, and of a read in writes. Swapped cables show by it."""


class End(NamedTuple):
    """A rail at one end of a flow, for packets of one DSCP."""

    host: str
    rail: str
    switch: str
    port: str
    up: bool = True
    mtu: int = 9000
    gid: bool = True
    priority: int = 0
    lossless: bool = False
    """Whether PFC is on for the priority of these packets."""
    percent: float = 100.0
    """Rate of a damaged cable."""
    pcie: tuple[int, int] = (5, 16)
    """Generation and width."""
    dead: bool = False
    """Packets vanish, although the link is up."""

    @property
    def name(self) -> str:
        """Host and rail."""
        return f"{self.host} {self.rail}"


class Outcome(NamedTuple):
    """What a flow reached. Numbers of packets are those of one second."""

    failure: str = ""
    gbps: float = 0.0
    mtu: int = 0
    us: float = 0.0
    packets: int = 0
    marked: int = 0
    paused: int = 0
    dropped: int = 0
    congested: tuple[PortOf, ...] = ()
    """Ports of switches at which packets wait, are marked or dropped."""


class Link(NamedTuple):
    """One direction of a cable, or of all cables between a leaf and its spines, over which flows are spread evenly."""

    name: str
    gbps: float
    port: PortOf | None
    """The switch port before it; none at a host."""


def packet_bytes(netdev_bytes: int) -> int:
    """Return the payload of RDMA packets on a network device with this MTU."""
    return next((mtu for mtu in MTUS if mtu + KERNEL_HEADERS <= netdev_bytes), 0)


def pcie_gbps(generation: int, width: int) -> float:
    """Return Gb/s of payload of a NIC on such a PCIe link."""
    return {3: 8, 4: 16, 5: 32, 6: 64}[generation] * width * 128 / 130 * 256 / 280 * 0.93


def has_link(end: End, switches: Switches) -> bool:
    """Say whether a rail's port is up: a port that the switch shuts down has no link at the host either."""
    return end.up and _port(switches, end.switch, end.port)["up"]


def _port(switches: Switches, switch: str, port: str) -> Mapping[str, Any]:
    ideal = {"up": True, "mtu": 9214, "trust": True, "lossless": range(8), "marks": range(8)}
    return switches[switch]["ports"].get(port, {**ideal, "up": False}) if switch in switches else ideal


def _class(switches: Switches, switch: str, port: str, dscp: int) -> int:
    """Return the class of packets with a DSCP that enter a port; -1: none, it ignores DSCP; -2: no switch runs."""
    if switch not in switches:
        return -2
    entered = _port(switches, switch, port)
    mapped = entered.get("dscp", switches[switch].get("dscp", {}))
    return int(mapped.get(str(dscp), dscp >> 3)) if entered["trust"] else -1


def _between(switches: Switches, leaf: str, other: str) -> list[tuple[PortOf, PortOf]]:
    """Return the usable cables of `leaf` to spines that `other` has a cable to: (leaf's port, spine's port)."""
    mine, theirs = (switches[it]["neighbors"] if it in switches else {} for it in (leaf, other))
    spines = {device for device, _port in theirs.values()}
    found = [((leaf, port), (device, far)) for port, (device, far) in mine.items() if device in {*spines, other}]
    return [pair for pair in found if all(_port(switches, *at)["up"] for at in pair)]


def ports(sender: End, receiver: End, switches: Switches) -> list[tuple[PortOf, PortOf]]:
    """Return the ports through which packets enter and leave each switch; empty without a path.

    A fabric without emulated switches has all paths.
    """
    first, last = (sender.switch, sender.port), (receiver.switch, receiver.port)
    if sender.switch == receiver.switch:
        return [(first, last)]
    if sender.switch not in switches or receiver.switch not in switches:
        return [(first, first), (last, last)]
    up, down = _both(switches, sender, receiver)
    if not up or not down:
        return []
    (leaf_up, spine_in), (leaf_down, spine_out) = up[0], down[0]
    middle = [] if spine_in[0] == receiver.switch else [(spine_in, spine_out)]
    return [(first, leaf_up), *middle, (leaf_down, last)]


def _both(switches: Switches, sender: End, receiver: End) -> tuple[list[tuple[PortOf, PortOf]], ...]:
    """Return the usable cables between the sender's leaf and the spines, and those of the receiver's leaf."""
    pair = sender.switch, receiver.switch
    return _between(switches, *pair), _between(switches, *pair[::-1])


def links(sender: End, receiver: End, switches: Switches, slow: Mapping[str, float] | None = None) -> list[Link]:
    """Return what the flow goes over, in its direction. `slow` has percent of a planted slow path: `leaf1>leaf2`."""
    whole = [Link(f"from {sender.name}", PORT_GBPS * sender.percent / 100, None)]
    if sender.switch != receiver.switch:
        between = f"{sender.switch}>{receiver.switch}"
        part = (slow or {}).get(between, 100) / 100
        up, down = _both(switches, sender, receiver)
        if up and down:
            whole.append(Link(f"up {sender.switch}", len(up) * PORT_GBPS, up[0][0]))
            whole.append(Link(f"down {receiver.switch}", len(down) * PORT_GBPS, down[0][1]))
        whole.append(Link(f"path {between} {sender.name}", PORT_GBPS * part, None))
    return [*whole, Link(f"to {receiver.name}", PORT_GBPS * receiver.percent / 100, (receiver.switch, receiver.port))]


def lossy(sender: End, receiver: End, switches: Switches, dscp: int) -> list[str]:
    """Return the places at which packets of a DSCP are in no lossless class, or in another one than the sender's."""
    found = [end.name for end in (sender, receiver) if not end.lossless or end.priority != sender.priority]
    for entered, left in ports(sender, receiver, switches):
        number = _class(switches, *entered, dscp)
        for at in dict.fromkeys((entered, left)):
            if number != -2 and (number != sender.priority or number not in _port(switches, *at)["lossless"]):
                found.append(" ".join(at))
    return found


def outcome(
    sender: End,
    receiver: End,
    switches: Switches,
    dscp: int,
    size: int,
    flows: Counter[str],
    slow: Mapping[str, float] | None = None,
) -> Outcome:
    """Return what messages of `size` bytes reach. `flows` counts by link's name, this flow included."""
    if not has_link(sender, switches):
        return Outcome(DOWN)
    way = ports(sender, receiver, switches)
    if not (sender.gid and receiver.gid and way and has_link(receiver, switches)):
        return Outcome(NO_ROUTE)
    mtu = packet_bytes(min(sender.mtu, receiver.mtu))
    longest = min(size, mtu) + IP_HEADERS
    if sender.dead or receiver.dead:
        return Outcome(HANG, mtu=mtu)
    if any(_port(switches, *at)["mtu"] < longest for pair in way for at in pair):
        return Outcome(LOST, mtu=mtu)
    used = links(sender, receiver, switches, slow)
    payload = mtu / (mtu + ON_WIRE)
    bus = min(pcie_gbps(*it.pcie) for it in (sender, receiver))
    share = min(bus, *(link.gbps / max(1, flows[link.name]) * payload for link in used))
    alone = min(bus / payload, *(link.gbps for link in used))
    full = [link for link in used if link.port and flows[link.name] > 1 and flows[link.name] * alone > 1.01 * link.gbps]
    us = FIRST_US + SWITCH_US * len(way)
    if not full:
        return _with_packets(Outcome(gbps=share * REACHED, mtu=mtu, us=us))
    return _congested(
        share, Outcome(mtu=mtu, us=us), full, flows, bool(lossy(sender, receiver, switches, dscp)), switches
    )


def _with_packets(found: Outcome) -> Outcome:
    return found._replace(packets=int(found.gbps * 1e9 / 8 / found.mtu) if found.mtu else 0)


def _congested(
    share: float, found: Outcome, full: Sequence[Link], flows: Counter[str], broken: bool, switches: Switches
) -> Outcome:
    where = tuple(link.port for link in full if link.port)
    rate = share * REACHED * (COLLAPSED if broken else LOSSLESS_SHARE)
    found = _with_packets(found._replace(gbps=rate, congested=where))
    marking = any(_port(switches, *at)["marks"] for at in where)
    if broken:
        return found._replace(dropped=max(1, found.packets // 1000))
    paused = 0 if marking and max(flows[link.name] for link in full) <= MILD else max(1, found.packets // 2000)
    return found._replace(marked=max(1, found.packets // 100) if marking else 0, paused=paused)


def counted(every: Iterable[Sequence[str]]) -> Counter[str]:
    """Return the number of flows by link's name."""
    return Counter(name for names in every for name in names)


NVLS_GB_S, RING_GB_S, NVLINKS = 467.0, 367.0, 18
"""all_reduce of eight H100 in one node with and without NVLS, and the links of a GPU."""
NCCL_SHARE = 0.95


def node_bus(gpus: int, *, nvls: bool, links_down: int = 0) -> float:
    """Return GB/s of bus bandwidth in one node; `links_down` are those of the worst GPU."""
    if links_down or not nvls or gpus < 2:
        return RING_GB_S * (NVLINKS - links_down) / NVLINKS
    return NVLS_GB_S


def rings(
    nodes: Sequence[Sequence[End]], switches: Switches, dscp: int, slow: Mapping[str, float]
) -> list[Outcome | None]:
    """Return what each rail of a ring of nodes reaches, all of them at once; None for one that has no link on a node.

    The slowest or failed part of a ring decides.
    """
    every = range(min(len(ends) for ends in nodes))
    linked = [at for at in every if all(has_link(ends[at], switches) for ends in nodes)]
    pairs = {at: [(ours[at], theirs[at]) for ours, theirs in zip(nodes, [*nodes[1:], nodes[0]])] for at in linked}
    flows = counted([link.name for link in links(*pair, switches, slow)] for at in linked for pair in pairs[at])
    found = {at: [outcome(*pair, switches, dscp, 1 << 20, flows, slow) for pair in pairs[at]] for at in linked}
    return [min(found[at], key=lambda it: (not it.failure, it.gbps)) if at in found else None for at in every]


def fabric_bus(gbps: float, rails: int, nodes: int, gpus: int, *, tree: bool) -> float:
    """Return GB/s of bus bandwidth of nodes over rails that all reach `gbps`: NCCL spreads its data evenly."""
    factor = (nodes * gpus - 1) / (nodes * gpus) * nodes / (nodes - 1) if tree else 1.0
    return gbps / 8 * rails * NCCL_SHARE * factor
