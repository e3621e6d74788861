# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of GPFS: its file systems, their owner, and its software."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.faults import MISSING, Fault
from ...core.rules import doubled
from ..mount_rules import mount_faults
from .model import MEMBER, Gpfs, Owner

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


def member_clusters_own_their_filesystems(gpfs: Gpfs) -> Iterator[Fault]:
    """With attach: member, keys of a remote mount would have no effect."""
    if gpfs.attach != MEMBER:
        return
    reason, repair = "attach is member, so the cluster owns its file systems", f"set {KEY}.attach: remote, or remove it"
    if gpfs.owner:
        yield Fault(f"{KEY}.owner.cluster", gpfs.owner.cluster, reason, repair)
    for index, filesystem in enumerate(gpfs.filesystems):
        if filesystem.owner_device:
            yield Fault(f"{KEY}.filesystems[{index}].owner_device", filesystem.owner_device, reason, repair)
        if filesystem.access != "rw":
            yield Fault(f"{KEY}.filesystems[{index}].access", filesystem.access, reason, repair)


def remote_mounts_name_both_clusters(gpfs: Gpfs) -> Iterator[Fault]:
    """Each cluster knows the other by its name and its key."""
    if gpfs.attach == MEMBER:
        return
    for key, value in (("cluster", gpfs.cluster), ("fingerprint", gpfs.fingerprint)):
        if not value:
            reason = "attach is remote, and the owner authorizes this cluster by its name and its key"
            yield Fault(f"{KEY}.{key}", MISSING, reason, f"set {KEY}.{key} as `mmauth show .` prints it on {KEY}.admin")
    if gpfs.owner:
        yield from _owner_faults(gpfs, gpfs.owner)
    else:
        reason = "attach is remote, and another cluster owns the file systems"
        yield Fault(f"{KEY}.owner", MISSING, reason, f"describe that cluster in {KEY}.owner, or set attach: member")


def _owner_faults(gpfs: Gpfs, owner: Owner) -> Iterator[Fault]:
    for key in ("cluster", "fingerprint"):
        if getattr(owner, key) == getattr(gpfs, key):
            reason = f"{KEY}.{key} has the same, and a cluster mounts its own file systems as a member"
            repair = f"set {KEY}.owner.{key} of the cluster that owns them, or set attach: member"
            yield Fault(f"{KEY}.owner.{key}", getattr(owner, key), reason, repair)
    if not owner.contacts:
        reason, repair = "nodes reach the owner by its contact nodes", f"name at least one in {KEY}.owner.contacts"
        yield Fault(f"{KEY}.owner.contacts", [], reason, repair)
    if not owner.admin and not owner.public_key:
        reason = f"{KEY}.owner.admin is missing too, so Drawbridge can't read the owner's public key"
        repair = f"set {KEY}.owner.admin, or copy the file id_rsa_committed.pub into {KEY}.owner.public_key"
        yield Fault(f"{KEY}.owner.public_key", MISSING, reason, repair)
    if owner.admin and owner.public_key:
        reason = f"{KEY}.owner.admin has the key too"
        yield Fault(f"{KEY}.owner.public_key", "set", reason, "remove one of the two")


def software_has_one_source(gpfs: Gpfs) -> Iterator[Fault]:
    """A repository or a directory."""
    if gpfs.software and gpfs.software.sources and gpfs.software.directory:
        reason = "software.sources has a repository too"
        yield Fault(f"{KEY}.software.directory", gpfs.software.directory, reason, "leave out one of the two")


RULES = (
    filesystems_are_listed_once,
    mounts_are_data,
    member_clusters_own_their_filesystems,
    remote_mounts_name_both_clusters,
    software_has_one_source,
)
