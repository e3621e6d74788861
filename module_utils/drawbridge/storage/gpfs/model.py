# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An existing Storage Scale (GPFS) cluster and the file systems that nodes mount."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import NAME, PATH, option


@dataclass(frozen=True)
class Filesystem:
    """A GPFS file system that nodes mount."""

    device: str = option("device name, as mmlsfs prints it", pattern=r"[A-Za-z0-9_.-]+")
    mount: str = option("its default mount point", pattern=PATH)


@dataclass(frozen=True)
class Gpfs:
    """drawbridge_gpfs: the existing Storage Scale cluster."""

    admin: str = option("inventory name of a member that may change the cluster", pattern=NAME)
    filesystems: tuple[Filesystem, ...] = option("file systems that nodes mount")
    cluster: str = option("its name, as mmlscluster prints it; empty: not compared", "", pattern=r"[A-Za-z0-9._-]*")
