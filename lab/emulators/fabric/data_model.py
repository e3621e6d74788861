# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What switches share whose configuration is nested objects: the tree itself."""

from __future__ import annotations

from typing import Any

Tree = dict[str, Any]
Leaf = tuple[tuple[str, ...], Any]


def leaves(tree: Tree, path: tuple[str, ...] = ()) -> list[Leaf]:
    """Return values and empty objects with their paths."""
    found: list[Leaf] = []
    for key, value in tree.items():
        found += leaves(value, (*path, key)) if isinstance(value, dict) and value else [((*path, key), value)]
    return found


def changed(before: Tree, after: Tree) -> list[tuple[str, ...]]:
    """Return the paths whose value is new or another one."""
    old = dict(leaves(before))
    return [path for path, value in leaves(after) if old.get(path) != value]
