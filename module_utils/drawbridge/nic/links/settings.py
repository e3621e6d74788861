# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The settings of RDMA network devices and their ports beside MTU and routes: their names, and what a group wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .pcie import ORDERING, PCIE, READ_REQUEST, operation

ARP = {"arp_ignore": "1", "arp_announce": "2", "rp_filter": "2"}
"""A device answers ARP for its own addresses alone. Without that all rails of a subnet have the address of one NIC. The
reverse path is checked loosely, because a strict check drops what arrives at the second rail of a subnet."""
RINGS, PAUSES = ("ring rx", "ring tx"), ("global pause rx", "global pause tx")
INTERRUPTS, NUMA_NODE = "interrupts", "NUMA node "
"""Which CPUs serve a port's interrupts, and the beginning of the value: the number of the node follows."""
QUIET = (*ARP, INTERRUPTS)
"""A change of these disturbs no job; one of the others stops traffic shortly."""

OPTIONS = {**dict.fromkeys(PAUSES, "-A"), **dict.fromkeys(RINGS, "-G")}
"""ethtool's options that set them."""
Settings = dict[tuple[str, str], str]
"""Values by device and name."""


def wanted(group: Mapping[str, Any]) -> Settings:
    """Settings of one group of the module, first those of its devices, then those of its ports."""
    arp = ARP if group.get("own_addresses") else {}
    found = {(name, key): value for name in group["interfaces"] for key, value in arp.items()}
    of_port = dict.fromkeys(PAUSES, "off") if group.get("pause_off", True) else {}
    if size := group.get("ring_size"):
        of_port.update(dict.fromkeys(RINGS, str(size)))
    if size := group.get("read_request_bytes"):
        of_port[READ_REQUEST] = str(size)
    if word := group.get("relaxed_ordering"):
        of_port[ORDERING] = word
    ports = group.get("ports") or ()
    numa = group.get("interrupts_numa") or ()
    for at, port in enumerate(ports):
        found.update(((port, key), value) for key, value in of_port.items())
        if numa:
            found[port, INTERRUPTS] = f"{NUMA_NODE}{numa[at * len(numa) // len(ports)]}"
    return found


def typed(name: str, setting: str, value: str) -> str:
    """What a person would type for a setting; interrupts have no command of their own."""
    if setting in ARP:
        return f"sysctl -w net/ipv4/conf/{name}/{setting}={value}"  # a name may have dots
    if option := OPTIONS.get(setting):
        return f"ethtool {option} {name} {setting.rpartition(' ')[2]} {value}"
    if setting in PCIE:
        return f"setpci -s {pci_of(name)} {operation(setting, value)}"
    return f"{name}: its interrupts on the CPUs of {value}"


def pci_of(port: str) -> str:
    """The PCI address of a port, as a shell finds it."""
    return f"$(basename $(readlink -f /sys/class/net/{port}/device))"
