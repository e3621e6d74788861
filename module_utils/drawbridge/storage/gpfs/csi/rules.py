# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the driver for Kubernetes inside of drawbridge_gpfs."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.faults import MISSING, Fault
from ....core.names import STATIC_CLASS
from ....core.rules import doubled
from ..model import MEMBER, Gpfs
from .model import DEPENDENT, Cluster, StorageClass
from .releases import RELEASES, older

KEY = "drawbridge_gpfs.csi"
FEWEST_INODES = 1024


def releases_fit(gpfs: Gpfs) -> Iterator[Fault]:
    """IBM pairs each release of the driver with one of Storage Scale. The primary file system left with 3.0."""
    if not (csi := gpfs.csi):
        return
    release = RELEASES[csi.release]
    version = gpfs.software.version if gpfs.software else ""
    if version and older(version, release.gpfs):
        fitting = [name for name, it in RELEASES.items() if not older(version, it.gpfs)]
        reason = f"it needs Storage Scale {release.gpfs} or later, and drawbridge_gpfs.software.version is {version}"
        repair = f"use {fitting[-1]}" if fitting else f"install Storage Scale {release.gpfs} or later"
        yield Fault(f"{KEY}.release", csi.release, reason, repair)
    devices = [each.device for each in gpfs.filesystems]
    if release.primary and csi.primary not in devices:
        reason = f"release {csi.release} keeps a fileset of its own in one of drawbridge_gpfs.filesystems"
        yield Fault(f"{KEY}.primary", csi.primary or MISSING, reason, f"use one of {', '.join(devices)}")
    if csi.primary and not release.primary:
        reason = f"release {csi.release} has no primary file system"
        yield Fault(f"{KEY}.primary", csi.primary, reason, "leave it out")


def clusters_are_reached(gpfs: Gpfs) -> Iterator[Fault]:
    """The driver asks the GUI of its own cluster, and with a remote mount that of the owner, too."""
    if not (csi := gpfs.csi):
        return
    if gpfs.attach == MEMBER and csi.owner:
        reason = "attach is member, so the cluster owns its file systems"
        yield Fault(f"{KEY}.owner", csi.owner.id, reason, "leave it out, or set drawbridge_gpfs.attach: remote")
    if gpfs.attach != MEMBER and not csi.owner:
        reason = "attach is remote, and the owner's GUI makes the filesets"
        yield Fault(
            f"{KEY}.owner", MISSING, reason, "describe id, gui and ca of the cluster that owns the file systems"
        )
    if csi.owner and csi.owner.id == csi.cluster.id:
        reason = f"{KEY}.cluster.id is the same, and a remote mount has two clusters"
        yield Fault(f"{KEY}.owner.id", csi.owner.id, reason, "write the id that mmlscluster prints at the owner")
    yield from _reached(f"{KEY}.cluster", csi.cluster)
    if csi.owner:
        yield from _reached(f"{KEY}.owner", csi.owner)


def _reached(key: str, cluster: Cluster) -> Iterator[Fault]:
    if not cluster.gui:
        yield Fault(f"{key}.gui", [], "the driver makes filesets by the GUI", "name at least one host of the GUI")
    yield from doubled(f"{key}.gui", [it.host for it in cluster.gui], "name every host once")
    if "-----BEGIN CERTIFICATE-----" not in cluster.ca:
        reason = "the driver sends a password there, and verifies the certificate with it"
        repair = "write the CA's certificate in PEM, from -----BEGIN CERTIFICATE----- on"
        yield Fault(f"{key}.ca", "no certificate" if cluster.ca else MISSING, reason, repair)


def classes_make_filesets(gpfs: Gpfs) -> Iterator[Fault]:
    """A class with parameters that the driver refuses would leave every claim Pending."""
    if not (csi := gpfs.csi):
        return
    yield from doubled(f"{KEY}.classes", [it.name for it in csi.classes], "give every storage class a name of its own")
    devices = {each.device: each.access for each in gpfs.filesystems}
    for index, name in enumerate(it.name for it in csi.classes):
        if name == STATIC_CLASS:
            reason = "volumes of projects that are directories of the nodes have it"
            yield Fault(f"{KEY}.classes[{index}].name", name, reason, "use another name")
    for index, it in enumerate(csi.classes):
        yield from _class_faults(f"{KEY}.classes[{index}]", it, devices)


def _class_faults(key: str, it: StorageClass, devices: dict[str, str]) -> Iterator[Fault]:
    if it.filesystem not in devices:
        reason = "drawbridge_gpfs.filesystems does not list it"
        yield Fault(f"{key}.filesystem", it.filesystem, reason, f"use one of {', '.join(devices)}")
    elif devices[it.filesystem] != "rw":
        reason = "the nodes only read this file system"
        yield Fault(f"{key}.filesystem", it.filesystem, reason, "use a file system with access: rw")
    if it.kind == DEPENDENT and not it.parent:
        reason = "a dependent fileset is inside an independent one"
        yield Fault(f"{key}.parent", MISSING, reason, "name the independent fileset, or set kind: independent")
    if it.kind != DEPENDENT and it.parent:
        reason = f"kind is {it.kind}, and only dependent filesets have a parent"
        yield Fault(f"{key}.parent", it.parent, reason, "leave it out, or set kind: dependent")
    if it.inode_limit and it.kind == DEPENDENT:
        reason = "a dependent fileset takes its inodes from its parent"
        yield Fault(f"{key}.inode_limit", it.inode_limit, reason, "leave it out, and set the limit of the parent")
    elif 0 < it.inode_limit < FEWEST_INODES:
        reason = "the driver refuses fewer than 1024"
        yield Fault(f"{key}.inode_limit", it.inode_limit, reason, "write 1024 or more, or leave it out")
    if it.permissions and it.permissions[-1] != "0":
        reason = "all users of the nodes would reach the directories of these claims, outside of pods, too"
        yield Fault(f"{key}.permissions", it.permissions, reason, f"write '{it.permissions[:2]}0'")


RULES = (releases_fit, clusters_are_reached, classes_make_filesets)
