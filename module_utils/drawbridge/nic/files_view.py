# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of one node for its RDMA ports: NCCL's, the settings for a boot, and systemd's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..nodes.model import Nodes

SYSTEMD = "/etc/systemd"
SETTINGS, NCCL = "/etc/drawbridge/nic.json", "/etc/nccl.conf"


def nccl_blocks(variables: Mapping[str, str], further: str = "") -> list[dict[str, str]]:
    """The block in NCCL's file, whose other lines are the site's; none without variables.

    `further` is the file of a library that takes NCCL's variables, but not its file. NCCL's stays for programs that
    read it, such as drawbridge-run.
    """
    text = "".join(f"{name}={value}\n" for name, value in variables.items())
    return [{"path": path, "content": text} for path in (NCCL, further) if path and text]


def boot_files(nodes: Nodes, name: str, settings: Mapping[str, Any]) -> list[dict[str, str]]:
    """What drawbridge-nic reads at a boot, and systemd's files."""
    own = {SETTINGS: json.dumps(settings, indent=4, sort_keys=True) + "\n"}
    texts = {**own, **link_files(nodes, name), **device_files(nodes, name)}
    return [{"path": path, "content": text} for path, text in texts.items()]


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
