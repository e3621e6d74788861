# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of systemd that one node needs for its RDMA ports: their names, and their settings when they appear."""

from __future__ import annotations

import re

from ..nodes.model import Nodes

SYSTEMD = "/etc/systemd"


def link_files(nodes: Nodes, name: str) -> dict[str, str]:
    """Texts of systemd's .link files that give ports their names, by path. A port gets its name at a boot."""
    found = {}
    for nics in nodes.class_of(name).nics:
        for port, address in zip(nics.ports, nics.pci) if nics.name_rails else ():
            found[f"{SYSTEMD}/network/10-drawbridge-{port}.link"] = (
                f"[Match]\nPath=pci-{address}\n\n[Link]\nName={port}\n"
            )
    return found


def device_files(nodes: Nodes, name: str) -> dict[str, str]:
    """Drop-ins of each port's device unit, by path.

    A port that appears starts its own service, after a reload of the driver too.
    """
    ports = [escaped(port) for nics in nodes.class_of(name).nics for port in nics.ports]
    return {
        f"{SYSTEMD}/system/sys-subsystem-net-devices-{port}.device.d/50-drawbridge-nic.conf": (
            f"# Written by Ansible.\n[Unit]\nWants=drawbridge-nic@{port}.service\n"
        )
        for port in ports
    }


def escaped(name: str) -> str:
    """The name as systemd writes it in names of units, where a dash separates folders."""
    return re.sub(r"[^A-Za-z0-9:_.]|^[.]", lambda match: f"\\x{ord(match.group()):02x}", name)
