# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A live file against the one that replaces it, by the file's name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Callable

from ..language import topology
from ..language.lines import Line, lines, settings
from . import derived, environment, nodes, partitions
from .model import DROPPED, KEPT, OURS, Change
from .settings import LOOKUP, TABLES, compared

TOPOLOGY = "topology.yaml"
"""It wins over topology.conf, and Drawbridge writes none."""
_NO_KEY = {
    "downnodes": "set states with scontrol",
    "frontendname": "Slurm's releases that Drawbridge supports have no front ends",
    "poweraction": "Drawbridge has no key for power actions",
}


def is_compared(path: str) -> bool:
    """Whether a file of this name may hold the site's own lines; other files are Drawbridge's by their paths."""
    return environment.is_configuration(path) or environment.is_environment(path)


def changes(
    path: str,
    old: str,
    new: str,
    included: Callable[[str], str],
    scripts: Mapping[str, Sequence[str]],
    live: str = "",
    release: str = "",
) -> list[Change]:
    """What becomes of each line of the live file `old`.

    `live` is the text of the live slurm.conf, which says what Slurm reads; empty: unknown. Raises ValueError for an
    Include that Slurm could not follow.
    """
    place = PurePath(path)
    if place.suffix == ".lua":
        return [_lua(place.stem, old, new)]
    if environment.is_environment(path):
        return environment.changes(path, old, new)
    if place.name == TOPOLOGY:
        return _topology_yaml(old, lines(new))
    have, want = lines(old, included), lines(new)
    if place.name == "gres.conf":
        return list(derived.devices(have, want))
    if place.name == "topology.conf":
        plugins = settings(lines(live, included)).get("topologyplugin", [("", "")])
        return list(derived.units(have, want, plugins[-1][1]))
    found = compared(TABLES[place.name], have, want, scripts, release)
    if place.name == "slurm.conf":
        found += [*nodes.nodes(have, want), *partitions.partitions(have, want), *_others(have)]
    return found


def _topology_yaml(old: str, new: Sequence[Line]) -> list[Change]:
    try:
        return list(derived.units(topology.yaml_lines(old), new))
    except ValueError as err:
        return [Change(DROPPED, f"all of {TOPOLOGY}", "", f"{derived.LEAVES}, and topology.conf can't say it: {err}")]


def _lua(name: str, old: str, new: str) -> Change:
    """A Lua script of the site is a part of the new file, or lost."""
    shown = f"all of {name}.lua"
    if old.strip() in new:
        return Change(KEPT, shown, shown)
    return Change(DROPPED, shown, "", "", (name, "script"), LOOKUP % name)


def _others(have: Sequence[Line]) -> Iterator[Change]:
    for line in have:
        if line.kind in _NO_KEY:
            yield Change(DROPPED, str(line), "", _NO_KEY[line.kind])
        elif line.kind == "nodeset":
            yield Change(OURS, str(line), "", "partitions name their node classes and nodes")
