# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The record of what roles placed on a host.

It has, for each role, the paths of its `file`s, of files with its `block` of lines, and of the `tree`s of its programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

RECORD = "/var/lib/drawbridge/placed.json"
FILE, BLOCK, TREE = "file", "block", "tree"


class Item(NamedTuple):
    """One thing that a role placed."""

    kind: str
    path: str


Record = Mapping[str, Sequence[Item]]
"""Items by role, in the order in which they were placed."""


def items(kind: str, paths: Iterable[str]) -> list[Item]:
    """Items of one kind."""
    return [Item(kind, path) for path in paths]


def parse(text: str) -> dict[str, list[Item]]:
    """The record of a text. Raises ValueError for one that is no record."""
    return record(json.loads(text))


def record(raw: Any) -> dict[str, list[Item]]:
    """The record of plain data. Raises ValueError for another shape, and for a path that no role places."""
    if not isinstance(raw, Mapping):
        raise ValueError("it is no mapping of roles")
    return {str(role): [_item(role, each) for each in listed] for role, listed in raw.items()}


def _item(role: str, raw: Any) -> Item:
    if not (isinstance(raw, (list, tuple)) and len(raw) == 2 and all(isinstance(part, str) for part in raw)):
        raise ValueError(f"role {role} has {raw!r}, which is no kind with its path")
    kind, path = raw
    parts = path.split("/")
    if kind not in (FILE, BLOCK, TREE) or parts[0] or ".." in parts or (kind == TREE and "drawbridge" not in path):
        raise ValueError(f"role {role} has {kind} {path}, which Drawbridge does not place")
    return Item(kind, path)


def plain(placed: Record) -> dict[str, list[list[str]]]:
    """The record as plain data, without roles that have nothing."""
    return {role: [list(item) for item in found] for role, found in placed.items() if found}


def text(placed: Record) -> str:
    """The record as its file has it."""
    return json.dumps(plain(placed), indent=1, sort_keys=True) + "\n"


def joined(one: Record, other: Record) -> dict[str, list[Item]]:
    """Items of both."""
    roles = dict.fromkeys([*one, *other])
    return {role: [*dict.fromkeys([*one.get(role, ()), *other.get(role, ())])] for role in roles}


def left_over(found: Record, wanted: Record, gone: Iterable[str]) -> list[Item]:
    """Items of these roles that no role wants any more. `wanted` has the roles that are in effect, `gone` patterns."""
    chosen = {role for role in found if role in wanted or any(fnmatchcase(role, pattern) for pattern in gone)}
    kept = {item for role, listed in found.items() if role not in chosen for item in listed}
    kept |= {item for listed in wanted.values() for item in listed}
    return [*dict.fromkeys(item for role in found if role in chosen for item in found[role] if item not in kept)]


def without(found: Record, lost: Iterable[Item]) -> dict[str, list[Item]]:
    """The record without these items."""
    gone = set(lost)
    return {role: [item for item in listed if item not in gone] for role, listed in found.items()}
