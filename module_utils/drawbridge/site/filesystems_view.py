# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The one list of shared file systems, which all kinds fill."""

from __future__ import annotations

from collections.abc import Iterable

from ..slurm.model import Slurm
from ..storage.gpfs import view as gpfs_view
from ..storage.gpfs.model import Gpfs
from ..storage.model import SharedFilesystem
from ..storage.nfs import view as nfs_view
from ..storage.nfs.model import Nfs


def shared(gpfs: Gpfs | None, nfs: Nfs | None) -> list[SharedFilesystem]:
    """File systems of all kinds, in the order of the intent."""
    return [*(gpfs_view.shared(gpfs) if gpfs else ()), *(nfs_view.shared(nfs) if nfs else ())]


def of_namespaces(slurm: Slurm, filesystems: Iterable[SharedFilesystem]) -> dict[str, list[str]]:
    """Mount points that pods of each job namespace see."""
    every = [filesystem.mount for filesystem in filesystems]
    return {
        account.namespace: [mount for mount in every if not account.mounts or mount in account.mounts]
        for account in slurm.accounts
        if account.namespace
    }
