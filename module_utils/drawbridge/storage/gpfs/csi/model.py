# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""IBM's driver of Storage Scale for Kubernetes in the intent: its release, the GUI's hosts, and its storage classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ....core.options import LABEL, Shape, content, option
from ..mounts.model import DEVICE
from .releases import RELEASES

INDEPENDENT, DEPENDENT, GROUP = "independent", "dependent", "group"
CLUSTER_ID = Shape(
    r"[0-9]{1,20}",
    "the id of a cluster",
    "at most 20 digits in quotes, as mmlscluster prints it, such as '2936932203756487754'",
)
GUI_HOST = Shape(
    r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?",
    "the name of a host",
    "letters, digits, dots and dashes, as the certificate has it, such as gui1.example.org",
)
PERMISSIONS = Shape(
    r"[0-7]{3}",
    "a mode of three digits",
    "three octal digits in quotes, such as '770'",
)
FILESET = Shape(
    r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}",
    "the name of a fileset",
    "letters, digits, dots, dashes and underscores, as mmlsfileset prints it",
)


@dataclass(frozen=True)
class Gui:
    """A host that runs the GUI of Storage Scale. The driver makes filesets by its REST API."""

    host: str = option("its name, as its certificate has it", pattern=GUI_HOST)
    port: int = option("port of its REST API", 443, low=1, high=65535)


@dataclass(frozen=True)
class Cluster:
    """A cluster of Storage Scale as the driver reaches it. Its certificate is always verified."""

    id: str = option("its id, as mmlscluster prints it, in quotes", pattern=CLUSTER_ID)
    gui: tuple[Gui, ...] = option("hosts of its GUI; with several the driver goes on when one is down")
    ca: str = content("certificate of the CA of its GUI, in PEM")


@dataclass(frozen=True)
class StorageClass:
    """A storage class: each claim of it becomes a fileset, which stays when the claim is deleted."""

    name: str = option("name of the StorageClass", pattern=LABEL)
    filesystem: str = option("device name of its file system, as in drawbridge_gpfs.filesystems", pattern=DEVICE)
    gid: int = option("group of its directories, as a number: people of the projects that use it", low=1)
    uid: int = option("owner of its directories, as a number", 0, low=0)
    permissions: str = option("mode of its directories; all users of the nodes reach them", "770", pattern=PERMISSIONS)
    kind: str = option(
        "independent: a fileset with its own inodes; dependent: a fileset inside parent; group: an independent fileset"
        " for each namespace, and dependent ones in it",
        INDEPENDENT,
        choices=(INDEPENDENT, DEPENDENT, GROUP),
    )
    parent: str = option("with kind: dependent, the independent fileset that has the others", "", pattern=FILESET)
    inode_limit: int = option(
        "files of one claim, with kind: group of one namespace; 0: the driver's own limit of 100000 to 1 million",
        0,
        low=0,
    )


@dataclass(frozen=True)
class Csi:
    """IBM's driver for Kubernetes. Without it pods of projects have the claims of drawbridge_projects alone."""

    release: str = option("release of the driver", choices=tuple(RELEASES))
    cluster: Cluster = option("the nodes' own cluster of Storage Scale")
    classes: tuple[StorageClass, ...] = option("storage classes")
    owner: Optional[Cluster] = option("with attach: remote, the cluster that owns the file systems", None)
    primary: str = option(
        "before release 3.0, device name of the file system that holds the driver's own fileset", "", pattern=DEVICE
    )
