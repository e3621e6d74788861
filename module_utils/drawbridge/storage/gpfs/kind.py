# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What controllers read of GPFS."""

from __future__ import annotations

from ...core import hostlist
from ..model import Group, KernelLayer, Kind, Servers
from .artefacts_view import (
    mm_auth,
    mm_config,
    mm_fileset,
    mm_mount,
    mm_node,
    mm_policy,
    mm_quota,
    mm_remote,
    mm_software,
)
from .config import rules as settings
from .model import Gpfs
from .rules import RULES
from .view import gpfs_client, gpfs_members, proposed, shared

PORT = 1191


def _admins(gpfs: Gpfs) -> list[str]:
    return hostlist.expand(gpfs.admin)


KIND = Kind(
    title="Storage Scale",
    model=Gpfs,
    rules=(*RULES, *settings.RULES),
    views=(gpfs_client, gpfs_members),
    shared=shared,
    servers=Servers(_admins, PORT, peers=True),
    artefacts=(mm_software, mm_node, mm_config, mm_auth, mm_remote, mm_mount, mm_fileset, mm_quota, mm_policy),
    reads=("mm_cluster_info", "mm_key_info"),
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
    proposed=proposed,
)
