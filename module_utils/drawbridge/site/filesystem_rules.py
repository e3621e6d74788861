# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between kinds of file systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ..core.faults import Fault
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


def accounts_see_shared_file_systems(slurm: Slurm, filesystems: Mapping[str, Any]) -> Iterator[Fault]:
    """Pods of an account mount what all nodes have."""
    known = [filesystem.mount for filesystem in shared(filesystems)]
    variables = " or ".join(f"drawbridge_{name}" for name in KINDS)
    for index, account in enumerate(slurm.accounts):
        key = f"drawbridge_slurm.accounts[{index}].mounts"
        for mount in (mount for mount in account.mounts if mount not in known):
            repair = f"use some of {', '.join(known)}" if known else f"define {variables}"
            yield Fault(key, mount, "no shared file system is mounted there", repair)
        if account.mounts and not account.namespace:
            yield Fault(key, list(account.mounts), "its jobs have no pods", "set its namespace too, or take mounts out")


RULES = (places_are_apart, accounts_see_shared_file_systems)
