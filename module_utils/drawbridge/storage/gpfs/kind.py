# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What controllers read of GPFS."""

from __future__ import annotations

from ...core import hostlist
from ..model import Group, KernelLayer, Kind, Servers
from .artefacts_view import ARTEFACTS
from .config import rules as settings
from .csi import kube_rules as csi_in_kubernetes
from .csi import rules as csi
from .csi.view import driver, gpfs_csi
from .model import Gpfs
from .rules import RULES
from .view import gpfs_client, gpfs_members, proposed, shared

PORT = 1191


def _admins(gpfs: Gpfs) -> list[str]:
    return hostlist.expand(gpfs.admin)


KIND = Kind(
    title="Storage Scale",
    model=Gpfs,
    rules=(*RULES, *settings.RULES, *csi.RULES, *csi_in_kubernetes.RULES),
    views=(gpfs_client, gpfs_members, gpfs_csi),
    shared=shared,
    servers=Servers(_admins, PORT, peers=True),
    artefacts=ARTEFACTS,
    reads=("mm_cluster_info", "mm_key_info", "mm_csi_info"),
    groups={
        "storage_admins": Group("admin", _admins, joins=True),
        "storage_owners": Group("owner.admin", lambda it: [it.owner.admin] if it.owner and it.owner.admin else []),
    },
    layer=KernelLayer(
        "GPFS",
        "/usr/lpp/mmfs/bin",
        "mmfs26.ko",
        "run mmbuildgpl on the node, or boot the kernel that the module was built for",
    ),
    filesets=True,
    driver=driver,
    proposed=proposed,
)
