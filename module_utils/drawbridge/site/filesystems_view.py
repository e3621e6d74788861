# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The shared file systems of the nodes, and what Slurm's accounts see of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from ..slurm.model import Slurm
from ..storage.kinds import shared
from ..storage.model import SharedFilesystem


def filesystems(filesystems: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All shared file systems of the nodes, of each kind.

    Each has C(mount), C(kind), C(source), C(proof), the command that shows it mounted, and C(unit), which mounts it
    after a boot.
    """
    return [asdict(each) for each in shared(filesystems)]


def of_namespaces(slurm: Slurm, filesystems: Iterable[SharedFilesystem]) -> dict[str, list[str]]:
    """Mount points that pods of each job namespace see."""
    every = [filesystem.mount for filesystem in filesystems]
    return {
        account.namespace: [mount for mount in every if not account.mounts or mount in account.mounts]
        for account in slurm.accounts
        if account.namespace
    }
