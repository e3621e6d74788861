# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a network operating system can carry. The rules of the intent refuse the rest before a switch is contacted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Callable

from ...core.faults import Fault
from ..model import ADAPTIVE, Cnp, Fabric, Roce, Storage
from .releases import Releases
from .systems import CHIPS

BUFFERS = ("cable_m", "lossless_buffer_percent")
"""Keys of drawbridge_fabric.switches that few systems have."""


@dataclass(frozen=True)
class Capabilities:
    """The limits of one system. `refusals` are rules that only its own words can explain."""

    ports: str
    """Regular expression of the names of ports that can carry traffic of nodes."""
    ports_repair: str
    """How to write them."""
    mtu_bytes: int
    """The largest MTU of a port."""
    mtu_reason: str
    releases: Releases
    """Those that Drawbridge configures, and what came with which."""
    percent_of_buffer: bool = False
    """It takes ECN thresholds in percent of the buffer that a queue can fill."""
    refusals: tuple[Callable[[Fabric], Iterator[Fault]], ...] = ()
    channels: str = ""
    """Regular expression of the names of port-channels; empty where they have the classes, and are ports."""
    buffers: tuple[str, ...] = ()
    """Those of BUFFERS that Drawbridge configures on it."""
    lacks: tuple[str, ...] = ()
    """What the intent describes and this system can't be given, each as a clause."""
    no_hash: tuple[str, ...] = ()
    """Families of ASICs for which Drawbridge sets no hash of equal paths."""

    def strange_ports(self, names: list[str]) -> list[str]:
        """Those of the ports that can't carry traffic of nodes."""
        return [name for name in names if not re.fullmatch(self.ports, name)]


def classes(fabric: Fabric) -> list[tuple[str, Roce | Cnp | Storage]]:
    """The traffic classes of the intent by their keys."""
    storage = [("storage", fabric.storage)] if fabric.storage else []
    return [("roce", fabric.roce), ("cnp", fabric.cnp), *storage]


SUGGESTED = {"roce": "3 with dscp 26", "cnp": "6 with dscp 48", "storage": "4 with dscp 34"}
"""A priority for each class that every system carries."""


def capabilities(system: str) -> Capabilities:
    """The capabilities of one of SYSTEMS."""
    return import_module(f".{system}.capabilities", __package__).CAPABILITIES


def lacking(fabric: Fabric) -> list[str]:
    """What switches of the intent can't be given, as sentences that name them."""
    found: dict[str, list[str]] = {}
    for kind in fabric.switches:
        for lack in capabilities(kind.platform).lacks:
            found.setdefault(lack, []).append(kind.names)
    if fabric.congestion_control == ADAPTIVE and fabric.switches:
        lack = "Drawbridge configures no adaptive routing on switches; congestion_control has an effect on NICs alone"
        found.setdefault(lack, []).extend(kind.names for kind in fabric.switches)
    for kind in fabric.switches if fabric.ecmp else ():
        if CHIPS[kind.asic] in capabilities(kind.platform).no_hash:
            lack = (
                f"Drawbridge sets no hash for equal paths on {kind.asic} with {kind.platform}; ecmp has no effect there"
            )
            found.setdefault(lack, []).append(kind.names)
    return [f"{','.join(names)}: {lack}" for lack, names in found.items()]
