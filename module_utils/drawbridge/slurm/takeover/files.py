# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A live file against the one that replaces it, by the file's name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Callable

from . import environment, records
from .model import DROPPED, KEPT, OURS, Change
from .settings import LOOKUP, TABLES, compared
from .text import Line, lines

_DERIVED = {
    "gres.conf": "drawbridge_nodes.classes has the GPUs; without autodetection a node that lacks one is a finding",
    "topology.conf": "drawbridge_nodes.ranges has the leaves",
}
_NO_KEY = {
    "downnodes": "set states with scontrol",
    "frontendname": "Slurm's releases that Drawbridge supports have no front ends",
}


def is_compared(path: str) -> bool:
    """Whether a file of this name may hold the site's own lines; other files are Drawbridge's by their paths."""
    return environment.is_configuration(path) or environment.is_environment(path)


def changes(
    path: str, old: str, new: str, included: Callable[[str], str], scripts: Mapping[str, Sequence[str]]
) -> list[Change]:
    """What becomes of each line of the live file `old`."""
    place = PurePath(path)
    if place.suffix == ".lua":
        return [_lua(place.stem, old, new)]
    if environment.is_environment(path):
        return environment.changes(path, old, new)
    have, want = lines(old, included), lines(new)
    if place.name in _DERIVED:
        return list(_derived(place.name, have, want))
    found = compared(TABLES[place.name], have, want, scripts)
    if place.name == "slurm.conf":
        found += [*records.nodes(have, want), *records.partitions(have, want), *_others(have)]
    return found


def _lua(name: str, old: str, new: str) -> Change:
    """A Lua script of the site is a part of the new file, or lost."""
    shown = f"all of {name}.lua"
    if old.strip() in new:
        return Change(KEPT, shown, shown)
    return Change(DROPPED, shown, "", "", (name, "script"), LOOKUP % name)


def _derived(name: str, old: Sequence[Line], new: Sequence[Line]) -> Iterator[Change]:
    """Lines that follow from the nodes; other resources than GPUs have no key."""
    have, want = ([str(line) for line in found] for found in (old, new))
    for line, text in zip(old, have):
        values = {"name": (line.kind, line.name), **line.values()} if line.kind == "name" else line.values()
        gres = values.get("name", ("", "gpu"))[1].lower()
        if text in want:
            yield Change(KEPT, text, text)
        elif name == "gres.conf" and gres != "gpu":
            yield Change(DROPPED, text, "", f"Drawbridge manages no generic resource {gres}")
        else:
            yield Change(OURS, text, "", _DERIVED[name])
    for text in want:
        if text not in have:
            yield Change(OURS, "", text, _DERIVED[name])


def _others(have: Sequence[Line]) -> Iterator[Change]:
    for line in have:
        if line.kind in _NO_KEY:
            yield Change(DROPPED, str(line), "", _NO_KEY[line.kind])
        elif line.kind == "nodeset":
            yield Change(OURS, str(line), "", "partitions name their node classes and nodes")
