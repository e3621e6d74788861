# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What NFS needs from the intent: the client's package, the mounts, and the unit that mounts them at boot."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...nodes.model import Nodes
from ...nodes.systems import SYSTEMS
from ..model import SharedFilesystem
from .model import Export, Nfs
from .text import service, source

CLIENTS = {"apt": "nfs-common", "dnf": "nfs-utils"}
"""The package of the NFS client, by package manager."""
UNIT = "drawbridge-nfs.service"


def shared(nfs: Nfs) -> list[SharedFilesystem]:
    """Its mounts as the other layers see them."""
    return [SharedFilesystem(each.mount, "nfs", source(each), "nfsstat --mounts", UNIT) for each in nfs.mounts]


def client(nfs: Nfs, nodes: Nodes) -> dict[str, Any]:
    """What every node needs."""
    manager = SYSTEMS[nodes.os].manager if nodes.os in SYSTEMS else "apt"
    return {
        "mounts": {
            "package": CLIENTS[manager],
            "manager": manager,
            "mounts": [_plain(each) for each in nfs.mounts],
            "wait_s": nfs.wait_s,
        },
        "service": service([each.mount for each in nfs.mounts], nfs.wait_s),
    }


def _plain(each: Export) -> dict[str, Any]:
    return {**asdict(each), "options": list(each.options)}
