# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Members and mounts of a Storage Scale cluster, read from rows of the -Y form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..text import Row


def names(row: Row) -> list[str]:
    """Every name and address that a row gives its node."""
    fields = ("nodeName", "daemonNodeName", "adminNodeName", "daemonShortName", "ipAddress")
    return [row[field] for field in fields if row[field]]


def directory(rows: Sequence[Row]) -> dict[str, Row]:
    """Rows by all names of their nodes. A full name wins over another node's short form."""
    found: dict[str, Row] = {}
    for row in rows:
        found.update((name, row) for name in names(row) if name not in found)
    for row in rows:
        found.update((short(name), row) for name in names(row) if short(name) not in found)
    return found


def find(nodes: Mapping[str, Row], name: str) -> Row | None:
    """The row of a node in a directory. Names are compared whole: node1 is not node10."""
    return nodes.get(name) or nodes.get(short(name))


def short(name: str) -> str:
    """A host name without its domain; addresses stay as they are."""
    return name if name.replace(".", "").isdigit() else name.partition(".")[0]


def mountinfo(text: str) -> dict[str, tuple[str, str]]:
    """File system type and source of every mount point in /proc/self/mountinfo; the topmost mount wins."""
    table = {}
    for line in text.splitlines():
        mount, _sep, filesystem = line.partition(" - ")
        kind, source, *_unused = filesystem.split(" ")
        table[mount.split(" ")[4].replace(r"\040", " ")] = (kind, source)
    return table
