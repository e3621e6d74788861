# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Members and mounts of a Storage Scale cluster, read from rows of the -Y form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .mm_y import Row

NO_LICENSE = "none"
ACTIVE = "active"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Member:
    """What the cluster says of one of its nodes.

    `license` is the designated one, `state` the daemon's as the asker sees it, and `designation` is empty for a node
    that is neither quorum nor manager.
    """

    license: str = NO_LICENSE
    state: str = "down"
    designation: str = ""


@dataclass(frozen=True)
class Membership:
    """Wanted nodes by name; None is no member."""

    nodes: dict[str, Member | None]

    def lines(self) -> list[str]:
        """One line a member, as mmlscluster, mmlslicense and mmgetstate call things."""
        return [
            " ".join(filter(None, (name, node.designation, node.license, node.state)))
            for name, node in self.nodes.items()
            if node
        ]


@dataclass(frozen=True)
class Mounts:
    """Mount points of this host by device."""

    paths: dict[str, str]

    def lines(self) -> list[str]:
        """One line a mount, as in /proc/mounts."""
        return [f"{device} {path} gpfs" for device, path in self.paths.items()]


def names(row: Row) -> set[str]:
    """Every name and address that a row gives its node, short forms too."""
    full = [row[field] for field in ("nodeName", "daemonNodeName", "adminNodeName", "daemonShortName", "ipAddress")]
    return {name for name in full if name} | {short(name) for name in full if name}


def find(rows: Iterable[Row], name: str) -> Row | None:
    """The row of a node. Names are compared whole: node1 is not node10. A full name is tried before its short form."""
    rows = list(rows)
    for wanted in (name, short(name)):
        for row in rows:
            if wanted in names(row):
                return row
    return None


def short(name: str) -> str:
    """A host name without its domain; addresses stay as they are."""
    return name if name.replace(".", "").isdigit() else name.partition(".")[0]


def mountinfo(text: str) -> dict[str, tuple[str, str]]:
    """File system type and source of every mount point in /proc/self/mountinfo; the topmost mount wins."""
    table = {}
    for line in text.splitlines():
        mount, _, filesystem = line.partition(" - ")
        kind, source, *_ = filesystem.split(" ")
        table[mount.split(" ")[4].replace(r"\040", " ")] = (kind, source)
    return table
