# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of shared file systems: one row each, with the layers of a node by the names of their modules.

The name of a kind is that of its folder, of its variable `drawbridge_<kind>` and of its role `<kind>_client`. A visit
carries this table to nodes. The rest of a kind, in its folder's kind.py, stays on controllers.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.layer import Layer
from ..core.placed.text import FILE, Item, items
from .gpfs.mounts.layer import MM_MOUNT
from .gpfs.software.layer import MM_SOFTWARE
from .nfs.layer import NFS_MOUNTS

CLIENTS: Mapping[str, Mapping[str, Layer]] = {
    "gpfs": {"mm_software": MM_SOFTWARE, "mm_mount": MM_MOUNT},
    "nfs": {"nfs_mounts": NFS_MOUNTS},
}
_UNITS, _ETC = "/etc/systemd/system", "/etc/drawbridge"
EARLIER: Mapping[str, tuple[Item, ...]] = {
    "gpfs_client": (
        *items(FILE, [f"{_ETC}/gpfs.json", f"{_ETC}/slurm/health.d/30-gpfs", f"{_UNITS}/drawbridge-gpfs.service"]),
        *items(FILE, [f"{_UNITS}/{it}.service.d/30-drawbridge-gpfs.conf" for it in ("slurmd", "kubelet")]),
        *items(FILE, ["/usr/local/libexec/drawbridge/gpfs-boot"]),
    ),
    "nfs_client": (
        *items(FILE, [f"{_UNITS}/drawbridge-nfs.service", f"{_UNITS}/multi-user.target.d/30-drawbridge-nfs.conf"]),
        *items(FILE, [f"{_UNITS}/{it}.service.d/30-drawbridge-nfs.conf" for it in ("slurmd", "kubelet")]),
    ),
}
"""What releases without a record placed, by role. Kinds that came later have no entry."""
