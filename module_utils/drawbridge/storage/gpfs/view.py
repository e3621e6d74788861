# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Storage Scale needs from the intent: cluster, clients, their software and settings, the owner."""

from __future__ import annotations

from typing import Any

from ...nodes.model import Nodes
from ..model import SharedFilesystem
from .config.view import TrafficClass, attributes, class_name
from .model import PREBUILT, REMOTE, Gpfs, Software

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


def shared(gpfs: Gpfs) -> list[SharedFilesystem]:
    """Its file systems as the other layers see them."""
    return [
        SharedFilesystem(each.mount, "gpfs", each.device, f"mmlsmount {each.device} -L", "drawbridge-gpfs.service")
        for each in gpfs.filesystems
    ]


def traffic_of(purpose: str, lossless: TrafficClass | None, storage: TrafficClass | None) -> TrafficClass | None:
    """The class of GPFS's RDMA traffic: storage traffic's own, or with the rails that of GPU traffic."""
    return storage or (lossless if purpose else None)


def settings_of(gpfs: Gpfs, nodes: Nodes, node_class: str, lossless: Any, storage: Any) -> dict[str, str]:
    """Attributes of a node class; none without tuning."""
    tuning = gpfs.tuning.get(node_class)
    if not tuning:
        return {}
    return attributes(tuning, nodes.classes[node_class], traffic_of(tuning.verbs, lossless, storage))


def client(gpfs: Gpfs, nodes: Nodes, name: str, lossless: Any, storage: Any) -> Json:
    """What one node needs. Raises IntentError for an unknown node."""
    nodes.class_of(name)
    part = nodes.range_of(name)
    node_class = part.node_class if part else ""
    return {
        "software": {**software(gpfs.software), "slurm_node": name},
        "mounts": {
            "cluster": gpfs.cluster,
            "filesystems": [{"device": each.device, "mount": each.mount} for each in gpfs.filesystems],
            "settings": settings_of(gpfs, nodes, node_class, lossless, storage),
            "node_class": class_name(node_class),
            "slurm_node": name,
        },
        "boot": boot(gpfs),
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


def members(gpfs: Gpfs, nodes: Nodes, lossless: Any, storage: Any) -> Json:
    """What the admin host needs: the clients, and the classes with their settings."""
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
                "settings": settings_of(gpfs, nodes, title, lossless, storage),
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
