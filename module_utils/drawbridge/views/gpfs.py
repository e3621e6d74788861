# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Storage Scale needs from the intent: who is a client, of which cluster, with which file systems."""

from __future__ import annotations

from typing import Any

from ..intent.model import Gpfs, Nodes


def gpfs_clients(gpfs: Gpfs, nodes: Nodes) -> dict[str, Any]:
    """Arguments of the modules mm_node (`cluster`, `nodes`) and mm_mount (`cluster`, `filesystems`)."""
    return {
        "cluster": gpfs.cluster,
        "nodes": list(nodes.by_name),
        "filesystems": [{"device": each.device, "mount": each.mount} for each in gpfs.filesystems],
    }
