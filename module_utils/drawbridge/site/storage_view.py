# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Views of file systems; views.py lists them with the others."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..fabric.model import Fabric
from ..nodes.model import Nodes
from ..storage.gpfs import view as clients
from ..storage.gpfs.model import Gpfs
from ..storage.nfs import view as exports
from ..storage.nfs.model import Nfs
from . import filesystems_view

Json = dict[str, Any]


def gpfs_client(fabric: Fabric | None, nodes: Nodes, gpfs: Gpfs, name: str) -> Json:
    """GPFS on one node.

    C(software), options of M(drawbridge.drawbridge.mm_software); C(mounts), options of
    M(drawbridge.drawbridge.mm_mount); C(boot), what the boot program reads.
    """
    return clients.client(gpfs, nodes, name, fabric and fabric.roce, fabric and fabric.storage)


def gpfs_members(fabric: Fabric | None, nodes: Nodes, gpfs: Gpfs) -> Json:
    """GPFS clients of the Storage Scale cluster, and their node classes.

    C(cluster), C(nodes), C(daemon_suffix) and C(admin_suffix), options of M(drawbridge.drawbridge.mm_node);
    C(classes), option of M(drawbridge.drawbridge.mm_config); C(remote), with C(attach: remote) options of
    M(drawbridge.drawbridge.mm_auth) and M(drawbridge.drawbridge.mm_remote).
    """
    return clients.members(gpfs, nodes, fabric and fabric.roce, fabric and fabric.storage)


def nfs_client(nodes: Nodes, nfs: Nfs) -> Json:
    """NFS on the nodes.

    C(mounts), options of M(drawbridge.drawbridge.nfs_mounts); C(service), text of the unit that mounts at boot.
    """
    return exports.client(nfs, nodes)


def filesystems(gpfs: Gpfs | None, nfs: Nfs | None) -> list[Json]:
    """All shared file systems of the nodes, of each kind.

    Each has C(mount), C(kind), C(source), C(proof), the command that shows it mounted, and C(unit), which mounts it
    after a boot.
    """
    return [asdict(each) for each in filesystems_view.shared(gpfs, nfs)]
