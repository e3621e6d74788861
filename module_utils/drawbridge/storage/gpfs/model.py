# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The Storage Scale (GPFS) cluster that nodes join, the file systems that they mount, and their software and tuning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Optional

from ...core.options import FILE, HOSTS, LABEL, Shape, content, option
from ...nodes.nics import RAILS, STORAGE
from .csi.model import Csi
from .mounts.model import DEVICE, Filesystem
from .software.model import BUILD, PREBUILT

VERSION = Shape(
    r"[0-9][0-9A-Za-z.+~-]*",
    "a full version",
    "the one that the package manager writes, such as 5.2.3-0",
)
MEMBER, REMOTE = "member", "remote"
HOST = Shape(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}",
    "a name of Storage Scale",
    "letters, digits, dots, dashes and underscores, such as ess.example.org",
)
SQUASHED = Shape(
    r"root|[0-9]+:[0-9]+",
    "root or a pair of numbers",
    "root, or uid and gid in quotes, such as '65534:65534'",
)
EDITION = Shape(
    r"[a-z]+",
    "the suffix of a licence package",
    "small letters, such as dm",
)
FURTHER = Shape(
    r"gpfs\.[A-Za-z0-9_.+-]+",
    "the name of a package of Storage Scale",
    "a name that begins with gpfs., such as gpfs.compression",
)
KERNELS = Shape(
    r"[A-Za-z0-9.*?!\[\]_+~-]+",
    "a pattern of kernel releases",
    "the release of uname -r, with * for a part that changes, such as 6.8.0-*-generic",
)
ATTRIBUTE = Shape(
    r"[^\s,=\"'](.*[^\s,=\"'])?",
    "one value for mmchconfig",
    "a text without blanks, commas, = and quotes at its ends, such as 40",
)
SUFFIX = Shape(
    r"[a-z0-9.-]{1,62}",
    "the end of a host name",
    "at most 62 small letters, digits, dots and dashes, such as -data",
)
DIGEST = Shape(
    r"[0-9a-f]{40,128}",
    "an SHA digest",
    "40 to 128 hexadecimal digits in small letters without colons, as `mmauth show .` prints them",
)
"""A SHA digest of a public key, in the length that the release prints."""


@dataclass(frozen=True)
class SharedFilesystem(Filesystem):
    """A GPFS file system that nodes mount, of this cluster or of another one."""

    owner_device: str = option(
        "with attach: remote, its device name in the owner's cluster (empty: as device)", "", pattern=DEVICE
    )
    access: str = option("with attach: remote, the access that the owner grants", "rw", choices=("rw", "ro"))


@dataclass(frozen=True)
class Owner:
    """With attach: remote, the cluster that owns the file systems."""

    cluster: str = option("its name, as mmlscluster prints it there", pattern=HOST)
    contacts: tuple[str, ...] = option("its contact nodes, by names that the nodes resolve", pattern=HOST)
    fingerprint: str = option("SHA digest of its public key, as `mmauth show .` prints it there", pattern=DIGEST)
    root_becomes: str = option(
        "root squash: the UID:GID at the owner of the nodes' root, or root (it stays root)",
        pattern=SQUASHED,
    )
    uid_remapping: bool = option(
        "whether the cluster remaps UIDs (enableUIDremap), because users have other numbers at the owner"
    )
    admin: str = option(
        "inventory name of a member that authorizes this cluster (empty: the owner's administrators do)",
        "",
        pattern=LABEL,
    )
    public_key: str = content("text of its public key; needed without admin")


@dataclass(frozen=True)
class Software:
    """GPFS's packages on the nodes, and the kernel modules."""

    version: str = option("version of the packages, as the package manager writes it, such as 5.2.3-0", pattern=VERSION)
    edition: str = option("suffix of the licence package gpfs.license.*, such as dm, da or std", pattern=EDITION)
    packaging: str = option("deb (apt) or rpm (dnf)", "deb", choices=("deb", "rpm"))
    further: tuple[str, ...] = option("further packages of that version, such as gpfs.compression", (), pattern=FURTHER)
    sources: str = content(
        "the packages' repository, as a deb822 file for apt or a .repo file for dnf (empty: the nodes' own sources)",
    )
    directory: str = option(
        "directory on the nodes that has the vendor's package files, instead of sources", "", pattern=FILE
    )
    kernel_modules: str = option(
        "build (each node compiles them for its kernel) or prebuilt (packages gpfs.gplbin-KERNEL)",
        BUILD,
        choices=(BUILD, PREBUILT),
    )
    kernels: tuple[str, ...] = option(
        "kernels for which IBM supports this version, as shell patterns such as 6.8.0-*-generic (empty: not compared)",
        (),
        pattern=KERNELS,
    )


@dataclass(frozen=True)
class Tuning:
    """GPFS's settings on the nodes of one class. Attributes without a value stay as the cluster has them."""

    pagepool_mib: int = option("cache of file data; its memory is pinned (0: not set)", 0, low=0)
    max_files_to_cache: int = option("files whose attributes are cached (0: not set)", 0, low=0, high=100_000_000)
    max_stat_cache: int = option(
        "further files of which only stat data is cached (0: not set)", 0, low=0, high=100_000_000
    )
    worker_threads: int = option("threads for concurrent operations (0: not set)", 0, low=0, high=8192)
    max_mbps: int = option("throughput in MB/s for which GPFS reads ahead (0: not set)", 0, low=0, high=100_000)
    verbs: str = option(
        "NICs that GPFS uses with RDMA over RoCE: storage, rails, or empty for TCP", "", choices=("", STORAGE, RAILS)
    )
    settings: Mapping[str, str] = option(
        "further attributes of mmchconfig, such as numaMemoryInterleave: 'yes'",
        MappingProxyType({}),
        pattern=ATTRIBUTE,
    )


@dataclass(frozen=True)
class Gpfs:
    """drawbridge_gpfs: the existing Storage Scale cluster."""

    admin: str = option(
        "hostlist of members that may change the cluster, as in the inventory; the first that answers is used",
        hosts=HOSTS,
    )
    filesystems: tuple[SharedFilesystem, ...] = option("file systems that nodes mount")
    cluster: str = option("its name, as mmlscluster prints it; empty: not compared", "", pattern=HOST)
    attach: str = option(
        "member (the cluster owns the file systems) or remote (another cluster owns them, and this one mounts them)",
        MEMBER,
        choices=(MEMBER, REMOTE),
    )
    owner: Optional[Owner] = option("with attach: remote, the cluster that owns the file systems", None)
    fingerprint: str = option(
        "with attach: remote, the SHA digest of this cluster's own public key", "", pattern=DIGEST
    )
    software: Optional[Software] = option("packages and kernel modules; without it the site installs them", None)
    tuning: dict[str, Tuning] = option("settings of nodes by node class", MappingProxyType({}))
    daemon_suffix: str = option(
        "text after a node's name that gives the name of its daemon interface, such as -data",
        "",
        pattern=SUFFIX,
    )
    admin_suffix: str = option(
        "text after a node's name that gives the name of its admin interface", "", pattern=SUFFIX
    )
    csi: Optional[Csi] = option("IBM's driver for Kubernetes; without it no storage class makes volumes here", None)
