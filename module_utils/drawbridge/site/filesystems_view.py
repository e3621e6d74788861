# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The shared file systems of the nodes, and what Slurm's accounts see of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..slurm.accounting.model import NO_MOUNTS
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
    """Folders that pods of each job namespace see: file systems in their order, then folders inside of them."""
    every = [filesystem.mount for filesystem in filesystems]
    return {account.namespace: _seen(account.mounts, every) for account in slurm.accounts if account.namespace}


def _seen(named: Sequence[str], every: list[str]) -> list[str]:
    if not named:
        return every
    inside = [it for it in named if it not in every and named != NO_MOUNTS]
    return [*(mount for mount in every if mount in named), *inside]
