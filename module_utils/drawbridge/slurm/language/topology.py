# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""topology.conf, and topology.yaml that wins over it since Slurm 25.05: which nodes stand together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.yaml_text import document
from .lines import Line
from .nodes import expanded

YAML_SINCE = "25.05"
"""The first release that reads topology.yaml. Older ones ignore it."""


def yaml_lines(text: str) -> list[Line]:
    """The lines of a topology.conf that means the same as the one topology in a topology.yaml.

    Raises ValueError for a file that no topology.conf can say.
    """
    found = document(text)
    if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], Mapping):
        raise ValueError("it has several topologies, or none")
    one = found[0]
    unknown = set(one) - {"topology", "cluster_default", "tree", "block", "flat"}
    if unknown or ("tree" in one and "block" in one):
        raise ValueError(f"it has {', '.join(sorted(unknown)) or 'a tree and blocks'}")
    tree, block = (_mapping(one.get(kind)) for kind in ("tree", "block"))
    switch = {"nodes": "Nodes", "children": "Switches"}
    sizes = block.get("block_sizes") or []
    return [
        *(_line("SwitchName", "switch", switch, it) for it in _list(tree, "switches")),
        *(_line("BlockName", "block", {"nodes": "Nodes"}, it) for it in _list(block, "blocks")),
        *([Line((("BlockSizes", ",".join(map(str, sizes))),))] if sizes else []),
    ]


def _mapping(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or set(value) - {"switches", "blocks", "block_sizes"}:
        raise ValueError("it has keys that topology.conf lacks")
    return value


def _list(value: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    entries = value.get(key) or []
    if not isinstance(entries, list) or not all(isinstance(it, Mapping) for it in entries):
        raise ValueError(f"{key} is no list of mappings")
    return entries


def _line(first: str, name: str, keys: Mapping[str, str], entry: Mapping[str, Any]) -> Line:
    if name not in entry or set(entry) - {name, *keys}:
        raise ValueError(f"an entry has keys that {first} lacks")
    return Line(((first, str(entry[name])), *((key, str(entry[it])) for it, key in keys.items() if entry.get(it))))


def below(found: Sequence[Line]) -> dict[str, frozenset[str]]:
    """All nodes of each switch and each block, by its name, those of switches below it too."""
    values = {line.name: line.values() for line in found if line.kind in ("switchname", "blockname")}

    def nodes(name: str, above: tuple[str, ...]) -> frozenset[str]:
        keys = values.get(name, {})
        own = frozenset(expanded(keys["nodes"][1])) if "nodes" in keys else frozenset()
        children = expanded(keys["switches"][1]) if "switches" in keys else []
        return own.union(*(nodes(it, (*above, name)) for it in children if it not in (*above, name)))

    return {name: nodes(name, ()) for name in values}
