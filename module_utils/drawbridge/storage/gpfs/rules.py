# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of GPFS: its file systems, its owner, its software."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.faults import MISSING, Fault
from ...core.rules import doubled
from ..mount_rules import mount_faults
from .model import MEMBER, Gpfs

KEY = "drawbridge_gpfs"


def filesystems_are_listed_once(gpfs: Gpfs) -> Iterator[Fault]:
    """One device, one mount point."""
    for part in ("device", "mount"):
        values = [getattr(filesystem, part) for filesystem in gpfs.filesystems]
        yield from doubled(f"{KEY}.filesystems", values, f"give every file system a {part} of its own")


def mounts_are_data(gpfs: Gpfs) -> Iterator[Fault]:
    """Pods of jobs may mount these folders of their node."""
    for index, filesystem in enumerate(gpfs.filesystems):
        yield from mount_faults(f"{KEY}.filesystems[{index}].mount", filesystem.mount, f"/gpfs/{filesystem.device}")


def owners_are_for_remote_mounts(gpfs: Gpfs) -> Iterator[Fault]:
    """Another cluster owns the file systems, or this one does."""
    if gpfs.attach == MEMBER:
        reason, repair = "attach is member, so the cluster owns its file systems", "set attach: remote, or leave it out"
        if gpfs.owner:
            yield Fault(f"{KEY}.owner", gpfs.owner.cluster, reason, repair)
        for index, filesystem in enumerate(gpfs.filesystems):
            if filesystem.owner_device or filesystem.access != "rw":
                key = "owner_device" if filesystem.owner_device else "access"
                yield Fault(f"{KEY}.filesystems[{index}].{key}", getattr(filesystem, key), reason, repair)
        return
    if not gpfs.owner:
        reason = "attach is remote, and another cluster owns the file systems"
        yield Fault(f"{KEY}.owner", MISSING, reason, f"describe that cluster in {KEY}.owner, or set attach: member")
    elif gpfs.owner.cluster == gpfs.cluster:
        reason = f"{KEY}.cluster is {gpfs.cluster} too, and a cluster mounts its own file systems without it"
        yield Fault(
            f"{KEY}.owner.cluster", gpfs.owner.cluster, reason, "name the cluster that owns them, or set attach: member"
        )
    if gpfs.owner and not gpfs.owner.contacts:
        yield Fault(f"{KEY}.owner.contacts", [], "nodes reach the owner by its contact nodes", "name at least one")
    for key, value in (("cluster", gpfs.cluster), ("fingerprint", gpfs.fingerprint)):
        if not value:
            reason = "attach is remote, and the owner authorizes this cluster by its name and its key"
            yield Fault(f"{KEY}.{key}", MISSING, reason, f"set {KEY}.{key} as `mmauth show .` prints it here")


def software_has_one_source(gpfs: Gpfs) -> Iterator[Fault]:
    """A repository or a directory."""
    if gpfs.software and gpfs.software.sources and gpfs.software.directory:
        reason = "software.sources has a repository too"
        yield Fault(f"{KEY}.software.directory", gpfs.software.directory, reason, "leave out one of the two")


RULES = (
    filesystems_are_listed_once,
    mounts_are_data,
    owners_are_for_remote_mounts,
    software_has_one_source,
)
