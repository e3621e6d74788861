# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cables from nodes to switches, and between switches."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import HOSTS, Shape, option
from ...nodes.nics import RAILS, STORAGE

_PORTS = "[A-Za-z]+-?[0-9/s]+(:[0-9]+)?(-[0-9/s]+(:[0-9]+)?){0,2}"
PORTS = Shape(
    f"{_PORTS}(,{_PORTS})*",
    "a list of ports",
    "the switch's own names, with ranges, such as Ethernet1/1-16/1, swp1s0-7, et-0/0/0-31 or Ethernet0-252:4",
)


@dataclass(frozen=True)
class Cable:
    """Cables from nodes to leaf switches. All switches use the same ports for the same nodes."""

    switches: str = option("hostlist of the leaf switches", hosts=HOSTS)
    ports: str = option(
        "ports of each of them, node by node; several rails of a node on one switch side by side, in rail order. A bond"
        " has one for each member that ends there, or its port-channel where C(ports) of the switches list that",
        pattern=PORTS,
    )
    nodes: str = option("hostlist of the nodes, in the order of the ports", hosts=HOSTS)
    purpose: str = option("NICs of the nodes: rails, or storage with one port a node", RAILS, choices=(RAILS, STORAGE))


@dataclass(frozen=True)
class Link:
    """Cables between two tiers of switches: the ports of a lower switch go to the upper ones in turn."""

    lower: str = option("hostlist of the lower switches", hosts=HOSTS)
    lower_ports: str = option("ports of each of them, to the first upper switch first", pattern=PORTS)
    upper: str = option("hostlist of the upper switches", hosts=HOSTS)
    upper_ports: str = option("ports of each of them, to the first lower switch first", pattern=PORTS)


@dataclass(frozen=True)
class Cabling:
    """Which port goes to which node or switch. Lists are expanded in their order."""

    nodes: tuple[Cable, ...] = option("cables to nodes", ())
    links: tuple[Link, ...] = option("cables between switches", ())
