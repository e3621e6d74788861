# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NFS on a node: its layers by the names of their modules, and what releases without a record placed."""

from __future__ import annotations

from ...core.placed.text import FILE, items
from .layer import NFS_MOUNTS

LAYERS = {"nfs_mounts": NFS_MOUNTS}
_UNITS = "/etc/systemd/system"
EARLIER = (
    *items(FILE, [f"{_UNITS}/drawbridge-nfs.service", f"{_UNITS}/multi-user.target.d/30-drawbridge-nfs.conf"]),
    *items(FILE, [f"{_UNITS}/{it}.service.d/30-drawbridge-nfs.conf" for it in ("slurmd", "kubelet")]),
)
