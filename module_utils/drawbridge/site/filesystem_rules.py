# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between kinds of file systems."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ..core.faults import Fault
from ..projects.model import Projects
from ..slurm.accounting.model import NO_MOUNTS
from ..slurm.model import Slurm
from ..storage.kinds import KINDS, shared
from ..storage.model import SharedFilesystem


def places_are_apart(filesystems: Mapping[str, Any]) -> Iterator[Fault]:
    """No mount lies in one of another kind: the inner one would fail or vanish with the outer one."""
    order, found = [*KINDS], shared(filesystems)
    at: dict[str, list[SharedFilesystem]] = {}
    for each in found:
        at.setdefault(each.mount, []).append(each)
    for second in found:
        places = (second.mount, *map(str, PurePosixPath(second.mount).parents))
        for first in (each for place in places for each in at.get(place, ()) if each.kind != second.kind):
            if first.mount != second.mount or order.index(first.kind) < order.index(second.kind):
                reason = f"{first.source} of drawbridge_{first.kind} is mounted at {first.mount}"
                yield Fault(f"drawbridge_{second.kind}", second.mount, reason, "use a folder outside of it")


def accounts_see_shared_file_systems(
    slurm: Slurm, filesystems: Mapping[str, Any], projects: Projects | None
) -> Iterator[Fault]:
    """Pods of an account mount what all nodes have. Of the directory of a project a rule of its own says that."""
    own = {projects.folder_of(project) for project in projects.projects} if projects else set()
    known = [filesystem.mount for filesystem in shared(filesystems)]
    variables = " or ".join(f"drawbridge_{name}" for name in KINDS)
    for index, account in enumerate(slurm.accounts):
        key = f"drawbridge_slurm.accounts[{index}].mounts"
        wanted = [it for it in account.mounts if account.mounts != NO_MOUNTS and it not in own]
        for mount in (mount for mount in wanted if not _inside(mount, known)):
            repair = f"use some of {', '.join(known)}" if known else f"define {variables}"
            yield Fault(key, mount, "no shared file system is mounted there", repair)
        if wanted and not account.namespace:
            yield Fault(key, wanted, "its jobs have no pods", "set its namespace too, or take mounts out")


def _inside(folder: str, mounts: Collection[str]) -> bool:
    """Whether a folder is one of these, or in one."""
    return any(it in mounts for it in (folder, *map(str, PurePosixPath(folder).parents)))


RULES = (places_are_apart, accounts_see_shared_file_systems)
