# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Values that a vendor's chart reads, and values that it would silently ignore.

The trees beside this file come from the vendors' own templates. Each line of such an outline is a value, indented below
its parent. A star means that a template passes on everything below.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Tree = dict[str, Any]
WHOLE = "*"
INDENT = 2


@functools.cache
def tree(name: str) -> Tree:
    """The tree of a file beside this one."""
    return parse(Path(__file__).with_name(f"{name}.txt").read_text())


def parse(text: str) -> Tree:
    """An outline as nested dicts; lines with # hold its source."""
    root: Tree = {}
    open_nodes = [root]
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        depth = (len(line) - len(line.lstrip())) // INDENT
        key, _sep, star = line.strip().partition(" ")
        node: Tree = {WHOLE: {}} if star == WHOLE else {}
        open_nodes[depth][key] = node
        open_nodes[depth + 1 :] = [node]
    return root


def leaves(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All values with their paths. A list is one value, and so is an empty mapping."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*path, str(key)))
        else:
            yield (*path, str(key)), value


def unread(values: Mapping[str, Any], known: Tree) -> dict[str, Any]:
    """Values that the chart does not read, by dotted path."""
    return {".".join(path): value for path, value in leaves(values) if not _read(path, known)}


def combined(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge as helm merges value files: mappings are merged, everything else is replaced."""
    result = dict(base)
    for key, value in over.items():
        mine = result.get(key)
        both = isinstance(mine, Mapping) and isinstance(value, Mapping)
        result[key] = combined(mine, value) if both and mine is not None else value
    return result


def _read(path: tuple[str, ...], known: Tree) -> bool:
    for key in path:
        if WHOLE in known:
            return True
        if key not in known:
            return False
        known = known[key]
    return WHOLE in known or not known
