# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Storage Scale needs from the intent: cluster, file systems and clients."""

from __future__ import annotations

from typing import Any

from ...nodes.model import Nodes
from .model import Gpfs


def gpfs_mounts(gpfs: Gpfs) -> dict[str, Any]:
    """Arguments of the module mm_mount, the same on every node: `cluster` and `filesystems`."""
    return {
        "cluster": gpfs.cluster,
        "filesystems": [{"device": each.device, "mount": each.mount} for each in gpfs.filesystems],
    }


def gpfs_clients(gpfs: Gpfs, nodes: Nodes) -> dict[str, Any]:
    """The same with `nodes`, the clients, for the module mm_node on the admin host."""
    return {**gpfs_mounts(gpfs), "nodes": list(nodes.by_name)}
