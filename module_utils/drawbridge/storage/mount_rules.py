# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A rule of mount points, the same for all kinds of file systems."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ..core.faults import Fault

SYSTEM = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/root", "/run", "/sbin", "/sys", "/usr"),
    *("/var/lib/containerd", "/var/lib/kubelet", "/var/log", "/var/run", "/var/spool"),
)
SYSTEM_PARENTS = ("/var", "/var/lib", "/opt", "/tmp")


def mount_faults(key: str, mount: str, better: str) -> Iterator[Fault]:
    """Refuse a mount point that pods of jobs must not mount, or that has two spellings; `better` is another one."""
    if any(part in ("", ".", "..") for part in mount.split("/")[1:]):
        reason = "admission compares paths of pods with it as text, so it must have one spelling"
        yield Fault(key, mount, reason, f"write {posixpath.normpath(mount)}")
    elif mount in SYSTEM_PARENTS or any(mount == own or mount.startswith(f"{own}/") for own in SYSTEM):
        reason = "it belongs to the node's system, and pods of jobs may mount this folder"
        yield Fault(key, mount, reason, f"use {better}")


RULES = ()
"""None alone: rules of each kind of file system call it."""
