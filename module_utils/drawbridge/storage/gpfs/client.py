# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS on a node: its layers by the names of their modules, and what releases without a record placed."""

from __future__ import annotations

from ...core.placed.text import FILE, items
from .mounts.layer import MM_MOUNT
from .software.layer import MM_SOFTWARE

LAYERS = {"mm_software": MM_SOFTWARE, "mm_mount": MM_MOUNT}
_UNITS, _ETC = "/etc/systemd/system", "/etc/drawbridge"
EARLIER = (
    *items(FILE, [f"{_ETC}/gpfs.json", "/usr/local/libexec/drawbridge/gpfs-boot", f"{_ETC}/slurm/health.d/30-gpfs"]),
    *items(FILE, [f"{_UNITS}/drawbridge-gpfs.service"]),
    *items(FILE, [f"{_UNITS}/{it}.service.d/30-drawbridge-gpfs.conf" for it in ("slurmd", "kubelet")]),
)
