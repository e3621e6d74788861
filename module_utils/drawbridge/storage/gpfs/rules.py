# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of GPFS: its file systems and its software."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.faults import Fault
from ...core.rules import doubled
from ..mount_rules import mount_faults
from .model import Gpfs

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


def software_has_one_source(gpfs: Gpfs) -> Iterator[Fault]:
    """A repository or a directory."""
    if gpfs.software and gpfs.software.sources and gpfs.software.directory:
        reason = "software.sources has a repository too"
        yield Fault(f"{KEY}.software.directory", gpfs.software.directory, reason, "leave out one of the two")


RULES = (
    filesystems_are_listed_once,
    mounts_are_data,
    software_has_one_source,
)
