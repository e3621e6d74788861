# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps that differ in one name only are one sentence for people; the JSON report keeps each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from ..core import hostlist
from .collect import CHANGED

FEW = 3
"""So many files of a folder are still named."""
_FILE = re.compile(r"(write|remove) (/\S+)")
_NAMED = re.compile(r"([A-Za-z][\w-]*\d): (.+)", re.DOTALL)
Found = Mapping[str, Any]


def shortened(findings: Sequence[Found]) -> list[dict[str, Any]]:
    """The same findings; steps of files in one folder, and of things with numbers in their names, are joined."""
    groups: dict[tuple[Any, ...], list[Found]] = {}
    for at, found in enumerate(findings):
        where = found["kind"], found["layer"], found["hosts"], found.get("new")
        groups.setdefault((*where, _alike(found) or str(at)), []).append(found)
    return [one for group in groups.values() for one in _joined(group)]


def _alike(found: Found) -> tuple[str, str] | None:
    """What steps that can be joined have in common."""
    if found["kind"] != CHANGED:
        return None
    if file := _FILE.fullmatch(found["text"]):
        return file[1], str(PurePosixPath(file[2]).parent)
    if named := _NAMED.fullmatch(found["text"]):
        return "", named[2]
    return None


def _joined(group: Sequence[Found]) -> list[dict[str, Any]]:
    alike = _alike(group[0])
    if not alike or (alike[0] and len(group) <= FEW) or len(group) == 1:
        return [dict(found) for found in group]
    verb, common = alike
    if verb:
        return [{**group[0], "text": f"{verb} {len(group)} files in {common}"}]
    names = [named[1] for found in group if (named := _NAMED.fullmatch(found["text"]))]
    return [{**group[0], "text": f"{hostlist.in_order(names)}: {common}"}]
