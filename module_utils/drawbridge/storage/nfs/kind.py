# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What controllers read of NFS."""

from __future__ import annotations

from ..model import Kind, Servers
from .model import Nfs
from .rules import RULES
from .view import nfs_client, nfs_mounts, shared

PORT = 2049
KIND = Kind(
    title="NFS",
    model=Nfs,
    rules=RULES,
    views=(nfs_client,),
    shared=shared,
    servers=Servers(lambda nfs: [each.server for each in nfs.mounts], PORT),
    artefacts=(nfs_mounts,),
)
