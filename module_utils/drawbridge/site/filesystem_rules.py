# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between kinds of file systems."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..core.faults import Fault
from ..slurm.model import Slurm
from ..storage.gpfs.model import Gpfs
from ..storage.nfs.model import Nfs
from .filesystems_view import shared


def places_are_apart(gpfs: Gpfs | None = None, nfs: Nfs | None = None) -> Iterator[Fault]:
    """No mount lies in one of another kind: the inner one would fail or vanish with the outer one."""
    for first, second in itertools.permutations(shared(gpfs, nfs), 2):
        same = first.mount == second.mount and (first.kind, second.kind) == ("gpfs", "nfs")
        if first.kind != second.kind and (same or second.mount.startswith(f"{first.mount}/")):
            reason = f"{first.source} of drawbridge_{first.kind} is mounted at {first.mount}"
            yield Fault(f"drawbridge_{second.kind}", second.mount, reason, "use a folder outside of it")


def accounts_see_shared_file_systems(slurm: Slurm, gpfs: Gpfs | None = None, nfs: Nfs | None = None) -> Iterator[Fault]:
    """Pods of an account mount what all nodes have."""
    known = [filesystem.mount for filesystem in shared(gpfs, nfs)]
    for index, account in enumerate(slurm.accounts):
        key = f"drawbridge_slurm.accounts[{index}].mounts"
        for mount in (mount for mount in account.mounts if mount not in known):
            repair = f"use some of {', '.join(known)}" if known else "define drawbridge_gpfs or drawbridge_nfs"
            yield Fault(key, mount, "no shared file system is mounted there", repair)
        if account.mounts and not account.namespace:
            yield Fault(key, list(account.mounts), "its jobs have no pods", "set its namespace too, or take mounts out")


RULES = (places_are_apart, accounts_see_shared_file_systems)
