# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Storage Scale needs from the intent: cluster, clients, their software and settings, the owner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ...core.question import ask, propose, refused
from ...nodes.model import Nodes
from ..model import SharedFilesystem
from .config.view import TrafficClass, attributes, class_name
from .model import PREBUILT, REMOTE, Gpfs, Software
from .mounts.model import Filesystem

Json = dict[str, Any]
LANGUAGE = {"deb": "gpfs.msg.en-us", "rpm": "gpfs.msg.en_US"}
COMPILERS = {
    "deb": ("make", "g++"),
    "rpm": ("make", "gcc-c++", "cpp", "elfutils-libelf-devel"),
}
HEADERS = {"deb": "linux-headers-", "rpm": "kernel-devel-"}
"""Packages of a kernel's headers; the kernel's name follows."""
NO_SOFTWARE: Json = {
    **{"packages": {}, "version": "", "manager": "apt", "sources": "", "directory": "", "kernel_modules": "build"},
    **{"compilers": [], "headers": HEADERS["deb"], "kernels": []},
}
ANY = ""
"""The version of a package that has its own numbers."""


class Network(Protocol):
    """The fabric's traffic classes, for GPUs and for storage."""

    roce: TrafficClass
    storage: TrafficClass | None


def shared(gpfs: Gpfs) -> list[SharedFilesystem]:
    """Its file systems as the other layers see them."""
    return [
        SharedFilesystem(each.mount, "gpfs", each.device, f"mmlsmount {each.device} -L", "drawbridge-gpfs.service")
        for each in gpfs.filesystems
    ]


def traffic_of(purpose: str, fabric: Network | None) -> TrafficClass | None:
    """The class of GPFS's RDMA traffic: storage traffic's own, or with the rails that of GPU traffic."""
    return (fabric.storage or (fabric.roce if purpose else None)) if fabric else None


def settings_of(gpfs: Gpfs, nodes: Nodes, node_class: str, fabric: Network | None) -> dict[str, str]:
    """Attributes of a node class; none without tuning."""
    tuning = gpfs.tuning.get(node_class)
    return attributes(tuning, nodes.classes[node_class], traffic_of(tuning.verbs, fabric)) if tuning else {}


def gpfs_client(fabric: Network | None, nodes: Nodes, gpfs: Gpfs, kube: object | None, name: str) -> Json:
    """GPFS on one node.

    C(software), options of M(drawbridge.drawbridge.mm_software); C(mounts), options of
    M(drawbridge.drawbridge.mm_mount); C(boot), what the boot program reads; C(kubelet), whether one may start after it.
    """
    nodes.class_of(name)  # refuses an unknown node
    part = nodes.range_of(name)
    node_class = part.node_class if part else ""
    return {
        "software": {**software(gpfs.software), "slurm_node": name},
        "mounts": {
            "cluster": gpfs.cluster,
            "filesystems": [{"device": each.device, "mount": each.mount} for each in gpfs.filesystems],
            "settings": settings_of(gpfs, nodes, node_class, fabric),
            "node_class": class_name(node_class),
            "slurm_node": name,
        },
        "boot": boot(gpfs),
        "kubelet": kube is not None,
    }


def boot(gpfs: Gpfs) -> Json:
    """What the node does by itself after a boot. Without a version the site builds the kernel modules."""
    wanted = software(gpfs.software)
    return {
        "filesystems": [{"device": each.device, "mount": each.mount} for each in gpfs.filesystems],
        **{key: wanted[key] for key in ("version", "kernel_modules", "kernels")},
    }


def software(wanted: Software | None) -> Json:
    """Packages with their versions, and how kernel modules come. Without an intent the site installs them."""
    if not wanted:
        return NO_SOFTWARE
    own = ("gpfs.base", LANGUAGE[wanted.packaging], f"gpfs.license.{wanted.edition}", *wanted.further)
    source = () if wanted.kernel_modules == PREBUILT else ("gpfs.gpl",)
    return {
        "packages": {**{name: wanted.version for name in (*own, *source)}, "gpfs.gskit": ANY},
        "version": wanted.version,
        "manager": "apt" if wanted.packaging == "deb" else "dnf",
        "sources": wanted.sources,
        "directory": wanted.directory,
        "kernel_modules": wanted.kernel_modules,
        "compilers": [] if wanted.kernel_modules == PREBUILT else list(COMPILERS[wanted.packaging]),
        "headers": HEADERS[wanted.packaging],
        "kernels": list(wanted.kernels),
    }


def gpfs_members(fabric: Network | None, nodes: Nodes, gpfs: Gpfs) -> Json:
    """GPFS clients of the Storage Scale cluster, and their node classes.

    C(cluster), C(nodes), C(daemon_suffix) and C(admin_suffix), options of M(drawbridge.drawbridge.mm_node);
    C(classes), option of M(drawbridge.drawbridge.mm_config); C(remote), with C(attach: remote) options of
    M(drawbridge.drawbridge.mm_auth) and M(drawbridge.drawbridge.mm_remote).
    """
    by_class: dict[str, list[str]] = {}
    for name, part in nodes.by_name.items():
        by_class.setdefault(part.node_class, []).append(name)
    return {
        "cluster": gpfs.cluster,
        "nodes": list(nodes.by_name),
        "daemon_suffix": gpfs.daemon_suffix,
        "admin_suffix": gpfs.admin_suffix,
        "classes": [
            {
                "name": class_name(title),
                "nodes": by_class.get(title, []),
                "settings": settings_of(gpfs, nodes, title, fabric),
            }
            for title in gpfs.tuning
        ],
        "remote": remote(gpfs),
    }


def remote(gpfs: Gpfs) -> Json:
    """Both sides of a remote mount: options of mm_auth on the owner, and of mm_remote. Empty for attach: member."""
    if gpfs.attach != REMOTE or not gpfs.owner:
        return {}
    owner = gpfs.owner
    devices = [(each, each.owner_device or each.device) for each in gpfs.filesystems]
    return {
        "public_key": owner.public_key,
        "owner": {
            "cluster": owner.cluster,
            "fingerprint": owner.fingerprint,
            "client": gpfs.cluster,
            "client_fingerprint": gpfs.fingerprint,
            "grants": [{"device": device, "access": each.access} for each, device in devices],
            "root_becomes": owner.root_becomes,
        },
        "client": {
            "cluster": gpfs.cluster,
            "fingerprint": gpfs.fingerprint,
            "owner": owner.cluster,
            "owner_fingerprint": owner.fingerprint,
            "contacts": list(owner.contacts),
            "filesystems": [
                {"device": each.device, "mount": each.mount, "owner_device": device, "access": each.access}
                for each, device in devices
            ],
            "uid_remapping": owner.uid_remapping,
        },
    }


def proposed(mounts: Sequence[tuple[str, str, str]], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Lines of a proposed intent, from the mounts of now."""
    found = sorted((source, mount) for source, mount, kind in mounts if kind == "gpfs")
    if not found:
        return [ask(0, "drawbridge_gpfs", "only with Storage Scale: mmlscluster, mmlsfs all")]
    admin = next(iter(groups.get("storage_admins", ())), "")
    lines = ["drawbridge_gpfs:", propose(2, Gpfs, "admin", admin, "mmlscluster")]
    lines += [ask(2, "cluster", "mmlscluster: GPFS cluster name")]
    places = {source: [mount for it, mount in found if it == source] for source, _mount in found}
    known = {source.rpartition("/")[2]: at[0] for source, at in places.items() if len(at) == 1}
    fine = {key: at for key, at in known.items() if not _unfit(key, at)}
    if len(fine) < len(places):
        return [*lines, ask(2, "filesystems", "device and mount of each that all nodes mount at one place: mmlsfs all")]
    entries = [f"    - {{device: {json.dumps(key)}, mount: {json.dumps(at)}}}" for key, at in fine.items()]
    return [*lines, "  filesystems:", *entries]


def _unfit(device: str, mount: str) -> str:
    return refused(Filesystem, "device", device) or refused(Filesystem, "mount", mount)
