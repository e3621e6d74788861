# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What NFS needs from the intent: the client's package, the mounts, and the unit that mounts them at boot."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...core.artefact import Artefact
from ...core.file_entry import Entry
from ...nodes.model import Nodes
from ...nodes.systems import SYSTEMS
from ..model import SharedFilesystem
from .model import Export, Nfs
from .text import mount_unit, service, source, unit_name

CLIENTS = {"apt": "nfs-common", "dnf": "nfs-utils"}
"""The package of the NFS client, by package manager."""
UNIT = "drawbridge-nfs.service"


def shared(nfs: Nfs) -> list[SharedFilesystem]:
    """Its mounts as the other layers see them."""
    return [SharedFilesystem(each.mount, "nfs", source(each), "nfsstat --mounts", UNIT) for each in nfs.mounts]


def nfs_client(nodes: Nodes, nfs: Nfs | None, kube: object | None) -> dict[str, Any]:
    """NFS on the nodes; no mounts on a site without it.

    C(mounts), options of M(drawbridge.drawbridge.nfs_mounts); C(service), text of the unit that mounts at boot;
    C(kubelet), whether one may start after it.
    """
    nfs = nfs or Nfs(())
    manager = SYSTEMS[nodes.os].manager if nodes.os in SYSTEMS else "apt"
    return {
        "mounts": {
            "package": CLIENTS[manager],
            "manager": manager,
            "mounts": [_plain(each) for each in nfs.mounts],
            "wait_s": nfs.wait_s,
        },
        "service": service([each.mount for each in nfs.mounts], nfs.wait_s),
        "kubelet": kube is not None,
    }


def _plain(each: Export) -> dict[str, Any]:
    return {**asdict(each), "options": list(each.options)}


def nfs_mounts(mounts: Any, package: str, wait_s: int) -> Artefact:
    """The client, and a unit for each mount."""
    exports = [Export(**{**each, "options": tuple(each["options"])}) for each in mounts]
    units = {f"/etc/systemd/system/{unit_name(it.mount)}": Entry(mount_unit(it, wait_s)) for it in exports}
    return Artefact([f"install {package}", *(f"mount {source(it)} at {it.mount}" for it in exports)], units)
