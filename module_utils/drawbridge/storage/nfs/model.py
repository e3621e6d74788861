# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The NFS exports that nodes mount."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import PATH, Shape, option

SERVER = Shape(
    r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?",
    "a name or an IPv4 address",
    "letters, digits, dots and dashes, such as filer.example.org",
)
EXPORT = Shape(
    r"/[A-Za-z0-9._/-]*",
    "an absolute path",
    "letters, digits, dots, dashes, underscores and slashes, such as /export/home",
)
TCP, RDMA = "tcp", "rdma"
VERSIONS = ("3", "4.0", "4.1", "4.2")
MOUNT_OPTION = Shape(
    r"[a-z][a-z_]*(=[A-Za-z0-9_.:/-]+)?",
    "one option of nfs(5)",
    "a word, or a word with its value, such as noatime or rsize=1048576",
)


@dataclass(frozen=True)
class Export:
    """An export of an NFS server that nodes mount. All mounts are hard."""

    server: str = option("the server's name or IPv4 address", pattern=SERVER)
    export: str = option("path that the server exports", pattern=EXPORT)
    mount: str = option("its mount point on the nodes", pattern=PATH)
    version: str = option("NFS version", "4.2", choices=VERSIONS)
    transport: str = option("tcp, or rdma for NFS over RDMA", TCP, choices=(TCP, RDMA))
    nconnect: int = option("connections to the server", 1, low=1, high=16)
    read_only: bool = option("whether nodes only read", False)
    options: tuple[str, ...] = option(
        "further options of nfs(5), such as noatime or rsize=1048576", (), pattern=MOUNT_OPTION
    )


@dataclass(frozen=True)
class Nfs:
    """drawbridge_nfs: NFS servers that exist."""

    mounts: tuple[Export, ...] = option("exports that nodes mount")
    wait_s: int = option("seconds after which a mount counts as failed", 60, low=5, high=300)
