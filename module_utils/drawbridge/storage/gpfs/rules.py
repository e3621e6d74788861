# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the file systems."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ...core.faults import Fault
from ...core.rules import doubled
from .model import Gpfs

SYSTEM = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin", "/sys", "/usr"),
    *("/var/lib/containerd", "/var/lib/kubelet", "/var/log", "/var/run", "/var/spool"),
)
SYSTEM_PARENTS = ("/var", "/var/lib", "/opt", "/tmp")


def filesystems_are_listed_once(gpfs: Gpfs) -> Iterator[Fault]:
    """One device, one mount point."""
    for part in ("device", "mount"):
        values = [getattr(filesystem, part) for filesystem in gpfs.filesystems]
        yield from doubled("drawbridge_gpfs.filesystems", values, f"give every file system a {part} of its own")


def mounts_are_data(gpfs: Gpfs) -> Iterator[Fault]:
    """Pods of jobs may mount these folders of their node."""
    for index, filesystem in enumerate(gpfs.filesystems):
        key, mount = f"drawbridge_gpfs.filesystems[{index}].mount", filesystem.mount
        if any(part in ("", ".", "..") for part in mount.split("/")[1:]):
            reason = "admission compares paths of pods with it as text, so it must have one spelling"
            yield Fault(key, mount, reason, f"write {posixpath.normpath(mount)}")
        elif mount in SYSTEM_PARENTS or any(mount == own or mount.startswith(f"{own}/") for own in SYSTEM):
            reason = "it belongs to the node's system, and pods of jobs may mount this folder"
            yield Fault(key, mount, reason, f"use /gpfs/{filesystem.device}")


RULES = (filesystems_are_listed_once, mounts_are_data)
