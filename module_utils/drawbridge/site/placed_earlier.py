# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What releases without a record placed on nodes, by role. A node's first record is made of those that exist."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.placed.text import BLOCK, FILE, TREE, Item, items
from ..storage.clients import EARLIER as OF_FILE_SYSTEMS

_UNITS, _LIB, _ETC = "/etc/systemd/system", "/usr/local/libexec/drawbridge", "/etc/drawbridge"
EARLIER: Mapping[str, tuple[Item, ...]] = {
    "fabric_nic": (
        *items(FILE, [f"{_ETC}/nic.json", "/usr/local/sbin/drawbridge-nic", f"{_ETC}/slurm/health.d/20-nic"]),
        *items(FILE, [f"{_UNITS}/drawbridge-nic.service", f"{_UNITS}/drawbridge-nic@.service"]),
        *items(FILE, [f"{_UNITS}/slurmd.service.d/40-drawbridge-nic.conf"]),
        *items(BLOCK, ["/etc/nccl.conf"]),
        *items(TREE, ["/usr/local/lib/drawbridge-nic/drawbridge"]),
    ),
    **OF_FILE_SYSTEMS,
    "kube_node": (*items(FILE, [f"{_UNITS}/kubelet.service.d/50-drawbridge.conf"]),),
    "slurm_gate": (
        *items(FILE, [f"{_ETC}/slurm/{kind}.d/50-gate" for kind in ("prolog", "epilog")]),
        *items(FILE, [f"{_UNITS}/drawbridge-gate.service", f"{_UNITS}/drawbridge-gate.timer"]),
        *items(FILE, [f"{_UNITS}/slurmd.service.d/50-drawbridge-gate.conf"]),
        *items(FILE, [f"{_ETC}/gate/config.json", f"{_ETC}/gate/runtime"]),
        *items(FILE, [f"{_LIB}/gate", f"{_LIB}/runtime-guard", f"{_LIB}/runc-guard"]),
        *items(FILE, ["/etc/containerd/conf.d/50-drawbridge-guard.toml"]),
        *items(TREE, ["/usr/local/lib/drawbridge/gate", "/var/lib/drawbridge/gate"]),
    ),
    "drawbridge_run": (
        *items(FILE, [f"{_ETC}/run.json", "/usr/local/bin/drawbridge-run"]),
        *items(FILE, ["/usr/local/share/man/man1/drawbridge-run.1"]),
        *items(TREE, ["/usr/local/lib/drawbridge-run/drawbridge"]),
    ),
    "slurm_node": (*items(FILE, [f"{_ETC}/slurm/{kind}.d/20-slurm-job-gpus" for kind in ("prolog", "epilog")]),),
}
