# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which values a vendor's chart reads, and which of ours it would pass over without a word.

The trees beside this file are taken from the vendors' own templates, never from what we set; an outline whose lines are
values, indented below those that they are in. A star says that everything below is handed on as a whole.
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
    """An outline as nested dicts; lines with # say where it is from."""
    root: Tree = {}
    open_nodes = [root]
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        depth = (len(line) - len(line.lstrip())) // INDENT
        key, _, star = line.strip().partition(" ")
        node: Tree = {WHOLE: {}} if star == WHOLE else {}
        open_nodes[depth][key] = node
        open_nodes[depth + 1 :] = [node]
    return root


def leaves(values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What is set, path by path. A list is one value, and so is an empty mapping."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*path, str(key)))
        else:
            yield (*path, str(key)), value


def unread(values: Mapping[str, Any], known: Tree) -> list[str]:
    """Paths that are set and that the chart never looks at, with dots between their keys."""
    return [".".join(path) for path, _ in leaves(values) if not _read(path, known)]


def combined(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Values as helm combines files of them: mappings are merged, all else is replaced."""
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
