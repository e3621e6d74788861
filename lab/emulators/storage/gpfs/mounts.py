# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""File systems: their attributes, where they are mounted, and mounting them for real (a bind mount of shared files)."""

from __future__ import annotations

import sys
from typing import Any

from ...common import DRIFT
from .daemon import act_on, targets
from .filesystems import completed
from .model import Cluster, Failed
from .remote import owner_of
from .text import dated, header, row, say

MOUNTS = "localDevName realDevName owningCluster totalNodes nodeIP nodeName clusterName mountMode"
ATTRIBUTES = (
    ("-f", "minFragmentSize", "8192", "Minimum fragment (subblock) size in bytes"),
    ("-i", "inodeSize", "4096", "Inode size in bytes"),
    ("-B", "blockSize", "4194304", "Block size"),
    ("-Q", "quotasAccountingEnabled", "", "Quotas accounting enabled"),
    ("-Q", "quotasEnforced", "", "Quotas enforced"),
    ("-Q", "defaultQuotasEnabled", "none", "Default quotas enabled"),
    ("--perfileset-quota", "perfilesetQuotas", "", "Per-fileset quota enforcement"),
    ("--filesetdf", "filesetdfEnabled", "", "Fileset df enabled?"),
    ("-V", "filesystemVersion", "33.00 (5.2.1.0)", "File system version"),
    ("", "UID", "0A4D0D0D:691F2C11", ""),
    ("-A", "automaticMountOption", "", "Automatic mount option"),
    ("-o", "additionalMountOptions", "none", "Additional mount options"),
    ("-T", "defaultMountPoint", "", "Default mount point"),
    ("--maintenance-mode", "maintenance-mode", "", "Maintenance Mode enabled?"),
)
"""Flag, -Y name, value and description of a file system's attributes; empty values are in the state."""


def mmlsfs(cluster: Cluster, _given: dict[str, str], argv: list[str]) -> None:
    """Print attributes of one file system or of all; a flag selects one of them."""
    flags = [flag for flag in argv if flag in {attribute[0] for attribute in ATTRIBUTES}]
    rest = [word for word in argv if word not in flags and word != "-Y"]
    devices = _devices(cluster, rest[0] if rest else "all")
    if not devices:
        raise Failed("No file systems were found.")
    if "-Y" in argv:
        print(header("mmlsfs", "", "deviceName fieldName data remarks"))
    for device in devices:
        if "-Y" not in argv:
            if not rest or rest[0].startswith("all"):
                title = f"File system attributes for /dev/{device}:"
                print("", title, "=" * len(title), sep="\n")
            print("flag                value                    description")
            print(f"{'-' * 19} {'-' * 24} {'-' * 35}")
        printed = ""
        for flag, name, value, text in _attributes(filesystem(cluster, device), flags):
            if "-Y" in argv:
                print(row("mmlsfs", "", (device, name, value, ""), also="/"))
            elif flag:
                print(f" {'' if flag == printed else flag:<18} {value:<24} {text}")  # a flag is said once
            printed = flag


def filesystem(cluster: Cluster, device: str) -> dict[str, Any]:
    """Return a file system of this cluster, or a remote one as this cluster has defined it."""
    if device in cluster.state["filesystems"]:
        return completed(cluster.state["filesystems"][device])
    remote = cluster.state["remote_filesystems"][device]
    return completed({"mount_point": remote["mount"], "automatic": remote["automount"], "maintenance": "no"})


def _attributes(filesystem: dict[str, Any], flags: list[str]) -> list[tuple[str, str, str, str]]:
    own = {
        "automaticMountOption": filesystem["automatic"],
        "defaultMountPoint": filesystem["mount_point"],
        "maintenance-mode": filesystem["maintenance"].capitalize(),
        "quotasAccountingEnabled": filesystem["quotas_enforced"],
        "quotasEnforced": filesystem["quotas_enforced"],
        "perfilesetQuotas": filesystem["perfileset_quota"],
        "filesetdfEnabled": filesystem["filesetdf"],
    }
    return [
        (flag, name, own.get(name, value), text) for flag, name, value, text in ATTRIBUTES if not flags or flag in flags
    ]


def mmlsmount(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print where file systems are mounted; a file system that is mounted nowhere has a row without a node."""
    if "-Y" in given:
        print(header("mmlsmount", "", MOUNTS))
    for device in _devices(cluster, rest[0] if rest else "all"):
        mounted = {name: where for name, where in cluster.state["mounts"][device].items() if name in cluster.nodes}
        name = cluster.state["name"]
        remote = cluster.state["remote_filesystems"].get(device, {"remote": device, "cluster": name})
        if "-Y" in given:
            rows = [
                (cluster.nodes[node]["ip"], node.partition(".")[0], name, mounted[node]["mode"]) for node in mounted
            ]
            for fields in rows or [("", "", "", "")]:
                print(row("mmlsmount", "", (device, remote["remote"], remote["cluster"], len(mounted), *fields)))
        elif not mounted:
            print(f"File system {device} is not mounted.")
        else:
            print(f"File system {device} is mounted on {len(mounted)} nodes{':' if '-L' in given else '.'}")
            if "-L" in given:
                print(*(f"  {cluster.nodes[node]['ip']:<15} {node:<25} {name}" for node in mounted), sep="\n")


def mmmount(cluster: Cluster, given: dict[str, str], rest: list[str]) -> int:
    """Mount on this node, or on those of -N or -a, at the default mount point unless another is given."""
    names = targets(cluster, given)
    if not rest:
        raise Failed("Missing arguments.")
    devices = _devices(cluster, rest[0])
    print(dated(cluster.now(), "mmmount: Mounting file systems ..."))
    rc = 0
    for device in devices:
        found = filesystem(cluster, device)
        if found["maintenance"] == "yes":
            raise Failed(f"File system {device} is in maintenance mode.")
        path = rest[1] if len(rest) > 1 else found["mount_point"]
        mode = "RO" if "ro" in given.get("-o", "").split(",") else "RW"
        if device in cluster.state["remote_filesystems"]:
            mode = "RO" if owner_of(cluster, device)[2] == "ro" else mode
        rc = max([rc, *(_mount(cluster, name, device, path, mode) for name in cluster.half(names))])
        if cluster.effect == DRIFT:
            act_on(cluster, names[-1], "umount", device, False)
    return rc


def _mount(cluster: Cluster, name: str, device: str, path: str, mode: str) -> int:
    if not cluster.reachable(name):
        rc, lines = 1, ["The node cannot be reached."]
    elif cluster.state["daemons"][name]["state"] != "active":
        rc, lines = 1, ["GPFS is down on this node."]
    else:
        rc, lines = act_on(cluster, name, "mount", device, path, mode)
    say((f"{name}:  {line}" for line in lines), sys.stderr)
    return rc


def mmumount(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Unmount; a file system in use is refused unless -f is given, and its users are then left with a dead one."""
    names = targets(cluster, given)
    if not rest:
        raise Failed("Missing arguments.")
    wanted = _devices(cluster, rest[0])
    devices = [device for device in wanted if set(names) & set(cluster.state["mounts"][device])]
    if not devices:
        raise Failed("No file systems were found")
    print(dated(cluster.now(), "mmumount: Unmounting file systems ..."))
    worst = 0
    for device in devices:
        mounted = dict(cluster.state["mounts"][device])
        for name in cluster.half([name for name in names if name in mounted]):
            rc, lines = act_on(cluster, name, "umount", device, "-f" in given)
            worst = max(worst, rc)
            say(lines, sys.stderr)
        if cluster.effect == DRIFT:
            where = mounted[names[-1]]
            act_on(cluster, names[-1], "mount", device, where["path"], where["mode"])
    if worst:
        raise Failed("File systems are still in use.")


def _devices(cluster: Cluster, name: str) -> list[str]:
    """Return the file systems that a device name, a mount point or a word like `all` stands for."""
    local, remote = cluster.state["filesystems"], cluster.state["remote_filesystems"]
    if name in ("all", "all_local", "all_remote"):
        return [*([] if name == "all_remote" else local), *([] if name == "all_local" else remote)]
    for device in (*local, *remote):
        if name in (device, f"/dev/{device}", filesystem(cluster, device)["mount_point"]):
            return [device]
    raise Failed(f"File system {name} is not known to the GPFS cluster.")
