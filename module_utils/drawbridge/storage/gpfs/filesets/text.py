# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filesets from rows of mmlsfileset -Y."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..text import Row
from .model import Fileset

LINKED, UNLINKED, DELETED = "Linked", "Unlinked", "Deleted"
"""A deleted fileset is listed, its name in parentheses, until the last snapshot that has it is gone."""
NOWHERE = ("--", "-", "")
"""The path of a fileset that is not linked."""
ROUNDING = 1 << 20
"""Public listings have up to 0.2 % more inodes than were wanted: GPFS allocates whole blocks of them."""


def parse(rows: Iterable[Row], wanted: Mapping[str, Fileset | None]) -> dict[str, Fileset | None]:
    """The wanted filesets. A number that GPFS only rounded up is the wanted one. Raises ValueError for a bad row."""
    found: dict[str, Fileset | None] = dict.fromkeys(wanted)
    for row in rows:
        name = row["filesetName"]
        if name in wanted and row["status"] != DELETED:
            found[name] = _fileset(row, wanted[name])
    return found


def junctions(rows: Iterable[Row]) -> dict[str, str]:
    """Names of all linked filesets by their junctions."""
    return {row["path"]: row["filesetName"] for row in rows if row["path"] not in NOWHERE}


def _fileset(row: Row, wanted: Fileset | None) -> Fileset:
    status = row["status"]
    junction = row["path"] if status == LINKED else ""
    if status == LINKED and not junction.startswith("/"):
        raise ValueError(f"fileset {row['filesetName']} is Linked, but its path is {junction!r}")
    if not status:
        raise ValueError(f"fileset {row['filesetName']} has no status")
    most, allocated, free = (_number(row[name]) for name in ("maxInodes", "allocInodes", "freeInodes"))
    want = wanted or Fileset()
    return Fileset(
        comment="" if row["comment"] == "-" else row["comment"],
        junction=junction,
        inodes=_as_wanted(most, want.inodes, ROUNDING),
        allocated=_as_wanted(allocated, want.allocated, allocated),
        dependent=row["isInodeSpaceOwner"] == "0",
        status="" if status in (LINKED, UNLINKED) else status,
        used=max(allocated - free, 0),
    )


def _as_wanted(found: int, wanted: int, more: int) -> int:
    """A wanted number that is met, with at most `more`; 0 if it is not compared."""
    return wanted if not wanted or wanted <= found <= wanted + more else found


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0
