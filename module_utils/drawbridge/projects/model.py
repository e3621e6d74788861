# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Projects in the intent: one entry is an account, a namespace, people, a directory, claims, a budget and an end date.

Keys of a project that an account of drawbridge_slurm has too have the same names and meanings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ..core.options import FILE, HOSTS, LABEL, PATH, Shape, option
from ..slurm.accounting.model import ACCOUNT, DATE, GROUP, TIME, USER, Amount, Budget
from ..slurm.model import PARTITION
from ..storage.directories.model import MODE

OPEN, CLOSED, ARCHIVED, REMOVED = "open", "closed", "archived", "removed"
STATES = (OPEN, CLOSED, ARCHIVED, REMOVED)
NAME = Shape(
    r"(?=.{1,39}$)[a-z0-9]+([_-][a-z0-9]+)*",
    "the name of a project",
    "at most 39 small letters and digits, with single dashes and underscores between them, such as vision",
)
"""It is the name of a Slurm account and of a fileset, and its namespace is made of it."""
POOL = Shape(
    r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}",
    "the name of a storage pool",
    "letters, digits, dots, dashes and underscores, as mmlspool prints it, such as data",
)
FOLDER = Shape(
    r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*",
    "a path inside a folder",
    "letters, digits, dots, dashes and underscores between single slashes, such as projects",
)
PREFIX = Shape(
    r"(localhost|[a-z0-9-]+(\.[a-z0-9-]+)+|[a-z0-9-]+(?=:))(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)*",
    "the beginning of image names",
    "a registry with a dot or a port, with or without a repository, such as nvcr.io/nvidia",
)


@dataclass(frozen=True)
class Directory:
    """The directory of a project: an independent fileset of GPFS, or a folder of another file system."""

    filesystem: str = option("mount point of its file system (empty: that of all projects)", "", pattern=PATH)
    folder: str = option(
        "its place in the file system (empty: the folder of all projects, and its name)", "", pattern=FOLDER
    )
    pool: str = option(
        "storage pool of its files, only with GPFS (empty: as the site's policy has it)", "", pattern=POOL
    )
    quota_gib: int = option("space that its files may take, only with GPFS; 0: no limit", 0, low=0)
    inodes: int = option("files that it may have, only with GPFS; 0: no limit", 0, low=0)
    owner: str = option("owner of the directory", "root", pattern=USER)
    group: str = option("group of the directory (empty: the project's first group)", "", pattern=GROUP)
    mode: str = option("mode of the directory", "2770", pattern=MODE)


@dataclass(frozen=True)
class Claim:
    """A claim on the project's whole directory, which pods of its jobs mount.

    None is on a folder inside: its people could replace that folder by a link to another place of the node.
    """

    name: str = option("name of the PersistentVolumeClaim", pattern=LABEL)
    read_only: bool = option("whether pods only read it", False)


@dataclass(frozen=True)
class OwnClaims:
    """A storage class in which people of a project make claims of their own."""

    name: str = option("name of the storage class", pattern=LABEL)
    size_gib: int = option("what all these claims together may request", low=1)
    claims: int = option("how many of them there may be", 10, low=1, high=10000)


@dataclass(frozen=True)
class Images:
    """Images that pods may have. Without this part any image is allowed."""

    allow: tuple[str, ...] = option("registries and repositories, such as nvcr.io/nvidia", pattern=PREFIX)
    digests_only: bool = option("whether each image must name a digest", False)


@dataclass(frozen=True)
class DataSet:
    """A directory that several projects read."""

    name: str = option("name of the data set, and of its claims", pattern=LABEL)
    path: str = option("its directory, on a shared file system of the nodes", pattern=FILE)


@dataclass(frozen=True)
class Project:
    """One project. What it does not name is closed to it."""

    name: str = option("name of the project: also of its account and its fileset", pattern=NAME)
    users: tuple[str, ...] = option("login names of its people", (), pattern=USER)
    groups: tuple[str, ...] = option("groups of the directory service whose members belong to it", (), pattern=GROUP)
    partitions: tuple[str, ...] = option("partitions that its jobs may use", (), pattern=PARTITION)
    parent: str = option("parent of its account", "root", pattern=ACCOUNT)
    fair_share: int = option("its share among the accounts of the same parent", 1, low=0, high=1000000)
    qos: tuple[str, ...] = option(
        "QOS that its jobs may use (empty: normal). With a budget one, whose settings the project's own QOS copies",
        (),
        pattern=ACCOUNT,
    )
    total: Amount = option("limit of all its running jobs together", Amount())
    per_job: Amount = option("limit of one job", Amount())
    jobs: int = option("running jobs; -1: no limit", -1, low=-1)
    submits: int = option("running and waiting jobs; -1: no limit", -1, low=-1)
    max_time: str = option("longest time limit of a job (empty: the partition's)", "", pattern=TIME)
    budget: Optional[Budget] = option("what its jobs may use in a period", None)
    namespace: str = option("namespace of its pods (empty: made of its name)", "", pattern=LABEL)
    mounts: tuple[str, ...] = option(
        "further folders that its pods see, on shared file systems, such as /home", (), pattern=PATH
    )
    directory: Optional[Directory] = option("its directory on a shared file system", None)
    claims: tuple[Claim, ...] = option("claims that its pods mount", ())
    storage_classes: tuple[OwnClaims, ...] = option("storage classes in which its people make claims of their own", ())
    data: tuple[str, ...] = option("data sets that its pods read", (), pattern=LABEL)
    images: Optional[Images] = option("images that its pods may have (empty: those of all projects)", None)
    ends: str = option("its last day; then it is closed (empty: none)", "", pattern=DATE)
    state: str = option(
        "what becomes of it: open, closed (no jobs, no access), archived (no account, its data has no path), removed",
        OPEN,
        choices=STATES,
    )


@dataclass(frozen=True)
class Capacity:
    """Space of a file system that its projects share."""

    filesystem: str = option("mount point of the file system", pattern=PATH)
    gib: int = option("its size", low=1)
    quota_percent: int = option("of its size that all quotas together may promise", 100, low=1, high=10000)


@dataclass(frozen=True)
class Projects:
    """drawbridge_projects: the projects of the site, and what holds for all of them."""

    projects: tuple[Project, ...] = option(
        "projects; each variable C(drawbridge_project_WORD) is one more, for example in a file of its own", ()
    )
    filesystem: str = option("mount point of the file system of their directories (empty: none)", "", pattern=PATH)
    folder: str = option("folder of their directories in this file system", "projects", pattern=FOLDER)
    host: str = option(
        "inventory name of a host that mounts file systems other than GPFS with root's rights, to make directories"
        " there (empty: none is made)",
        "",
        pattern=HOSTS,
    )
    capacity: tuple[Capacity, ...] = option("sizes of file systems, with which quotas are compared", ())
    data: tuple[DataSet, ...] = option("data sets", ())
    images: Optional[Images] = option("images that pods of projects may have, unless a project names its own", None)

    def folder_of(self, project: Project) -> str:
        """The absolute path of a project's directory; "" without one."""
        if not project.directory:
            return ""
        inside = project.directory.folder or f"{self.folder}/{project.name}"
        return f"{self.filesystem_of(project)}/{inside}"

    def filesystem_of(self, project: Project) -> str:
        """The mount point of the file system of a project's directory."""
        return (project.directory.filesystem if project.directory else "") or self.filesystem
