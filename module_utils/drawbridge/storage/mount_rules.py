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
SYSTEM_PARENTS = ("/", "/var", "/var/lib", "/opt", "/tmp")


def mount_faults(key: str, mount: str, better: str) -> Iterator[Fault]:
    """Refuse a mount point that pods of jobs must not mount, or that has two spellings; `better` is another one."""
    # POSIX leaves two slashes at the beginning alone
    plain = f"/{posixpath.normpath(mount).lstrip('/')}"
    if plain in SYSTEM_PARENTS or any(plain == own or plain.startswith(f"{own}/") for own in SYSTEM):
        reason = "it belongs to the node's system, and pods of jobs may mount this folder"
        yield Fault(key, mount, reason, f"use {better}")
    elif plain != mount:
        reason = "admission compares paths of pods with it as text, so it must have one spelling"
        yield Fault(key, mount, reason, f"write {plain}")


RULES = ()
"""None alone: rules of each kind of file system call it."""
