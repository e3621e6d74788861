# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Slurm's accounts see of the shared file systems."""

from __future__ import annotations

from collections.abc import Iterable

from ..slurm.model import Slurm
from ..storage.model import SharedFilesystem


def of_namespaces(slurm: Slurm, filesystems: Iterable[SharedFilesystem]) -> dict[str, list[str]]:
    """Mount points that pods of each job namespace see."""
    every = [filesystem.mount for filesystem in filesystems]
    return {
        account.namespace: [mount for mount in every if not account.mounts or mount in account.mounts]
        for account in slurm.accounts
        if account.namespace
    }
