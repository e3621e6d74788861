# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What filesets, quotas and policies share: the file system's record, its sizes, and where filesets lie.

Keys of the record:

Key `filesets`, by name: id, inode space, comment, inodes, and the junction below the mount point; the root's is empty.

Key `quotas`, by type USR, GRP or FILESET, then by fileset and name or id: soft and hard limits.

Key `graces`: since when a soft limit is exceeded, by the lab's clock.

Key `policy`: text, title, host and date of the installed policy, or null.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ...common import LIE
from .disks import Disks, Trouble
from .model import Bare, Failed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .model import Cluster

DAY = 86400
ROOT_MADE = 1617940701
SPACE = 1 << 19
"""Inodes between the roots of two inode spaces: independent filesets have root inodes 524291, 1048579, ..."""
STEP = 1024
"""Numbers of inodes are rounded up to a multiple of this (seen since 5.1: 100000 gives 100352)."""
POOLS = {
    "system": {"id": 0, "kib": 1 << 31, "metadata": True},
    "data": {"id": 65537, "kib": 1 << 34, "metadata": False},
}
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}


def find(cluster: Cluster, word: str) -> tuple[str, dict[str, Any]]:
    """Return name and record of a file system of this cluster; the daemon here must be active."""
    for device, record in cluster.state["filesystems"].items():
        if word in (device, f"/dev/{device}"):
            require_active(cluster)
            return device, completed(record)
    remote = cluster.state["remote_filesystems"].get(word.removeprefix("/dev/"))
    if remote:
        raise Failed(
            f"File system {word} belongs to cluster {remote['cluster']}.",
            "Command is not allowed for remote file systems.",
        )
    raise Failed(f"File system {word} is not known to the GPFS cluster.")


def require_active(cluster: Cluster) -> None:
    """Fail where GPFS is down."""
    if cluster.state["daemons"][cluster.me]["state"] != "active":
        raise Failed("GPFS is down on this node.")


def completed(record: dict[str, Any]) -> dict[str, Any]:
    """Give a file system's record what one without filesets lacks."""
    root = fileset(0, 0, ROOT_MADE, "root fileset", (STEP * 100_000, 411648))
    for key, value in (
        ("filesets", {"root": {**root, "junction": ""}}),
        ("next_fileset", 1),
        ("quotas", {"USR": {}, "GRP": {}, "FILESET": {}}),
        ("default_quotas", {}),
        ("graces", {}),
        ("grace_s", {}),
        ("in_doubt", {}),  # by fileset: KiB and files
        ("policy", None),
        ("pools", POOLS),
        ("quotas_enforced", "user;group;fileset"),  # or none
        ("perfileset_quota", "No"),
        ("filesetdf", "No"),
    ):
        record.setdefault(key, value)
    return record


def fileset(number: int, space: int, now: float, comment: str, inodes: tuple[int, int]) -> dict[str, Any]:
    """Return an unlinked fileset; an inode space other than 0 and its inodes (0, 0) make a dependent one."""
    return {
        "id": number,
        "space": space,
        "owner": inodes[0] > 0,
        "root_inode": space * SPACE + (3 if inodes[0] else 100 + number),
        "created": int(now),
        "comment": comment,
        "max": inodes[0],
        "alloc": inodes[1],
        "junction": None,
        "change": "chmodAndSetacl",
        "inherit": "inheritAclOnly",
    }


def known(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a fileset; exit code 22 when there is none of that name."""
    if name not in record["filesets"]:
        raise Bare(f"Fileset named {name} does not exist.", rc=22)
    return record["filesets"][name]


def disks(cluster: Cluster, device: str) -> Disks:
    """Return the file system's files; a command that lies leaves them alone."""
    return Disks(cluster.content_of(device), pretend=cluster.effect == LIE)


def ordered(disks: Disks, what: str, number: int, **details: Any) -> None:
    """Give an order, or fail with what the kernel says."""
    try:
        disks.order(what, number, **details)
    except Trouble as trouble:
        raise Failed(str(trouble)) from None


def used(cluster: Cluster, device: str, record: dict[str, Any], name: str) -> tuple[int, int]:
    """Return KiB and files of a fileset, the files of filesets below it not counted."""
    found = record["filesets"][name]
    others = [it["junction"] for key, it in record["filesets"].items() if it["junction"] and key != name]
    return disks(cluster, device).usage(found["id"], found["junction"], others)


def owners(
    cluster: Cluster, device: str, record: dict[str, Any], fileset: str | None
) -> Iterator[tuple[int, int, int]]:
    """Yield uid, gid and KiB of each file in one fileset or in all."""
    for name, found in record["filesets"].items():
        if fileset in (None, name):
            others = [it["junction"] for key, it in record["filesets"].items() if it["junction"] and key != name]
            yield from disks(cluster, device).files(found["id"], found["junction"], others)


def enforce(cluster: Cluster, device: str, record: dict[str, Any], name: str, *, now_full: bool = False) -> None:
    """Let the disks enforce a fileset's limits; with `now_full` nothing may be added: a grace period is over.

    The root fileset has no limits in the lab.
    """
    found = record["filesets"][name]
    if not found["id"]:
        return
    limits = record["quotas"]["FILESET"].get(name) if "fileset" in record["quotas_enforced"] else None
    files = [number for number in (found["max"], limits["files"][1] if limits else 0) if number]
    size = limits["block"][1] << 10 if limits else 0
    inodes = min(files, default=0)
    if now_full:
        size, inodes = 1, 1
    ordered(disks(cluster, device), "limit", found["id"], bytes=size, inodes=inodes)


def number(text: str, what: str) -> int:
    """Return a number with one of the letters K, M, G, T, P."""
    digits, letter = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if not digits.isdigit() or letter not in UNITS:
        raise Failed(f"Incorrect value for {what}: {text}")
    return int(digits) * UNITS[letter]


def rounded(value: int, step: int) -> int:
    """Round up to a multiple."""
    return -(-value // step) * step


def date(when: float) -> str:
    """Return a date as these commands print it."""
    return time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(when))
