# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A configuration as a tree of lines and blocks.

A node is JSON: {"lines": {key: text}, "blocks": {key: node}}. A key is `GROUP.RANK slot`, so that sorting keys
naturally gives the system's print order; a block's key ends with its header.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]


def empty() -> Node:
    """Return a configuration, or a block, without anything in it."""
    return {"lines": {}, "blocks": {}}


def at(tree: Node, path: list[str]) -> Node:
    """Return the block at a path of keys; made when it doesn't exist yet."""
    for key in path:
        tree = tree["blocks"].setdefault(key, empty())
    return tree


def header(key: str) -> str:
    """Return a block's header, e.g. `interface Ethernet1`."""
    return key.split(" ", 1)[1]


def block(tree: Node, title: str) -> Node | None:
    """Return the top-level block with a header, e.g. `interface Ethernet1`, or None."""
    return next((node for key, node in tree["blocks"].items() if header(key) == title), None)


def values(node: Node, start: str) -> Iterator[str]:
    """Give what follows a word in the lines of a block, e.g. the name after `hostname `."""
    yield from (text.removeprefix(start) for text in node["lines"].values() if text.startswith(start))


def in_order(node: Node) -> list[tuple[str, Any]]:
    """Return lines and blocks as the system prints them."""
    return sorted([*node["lines"].items(), *node["blocks"].items()], key=lambda item: natural(item[0]))


def natural(text: str) -> list[tuple[int, str]]:
    """Return a sort key by which Ethernet10 follows Ethernet9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text) if part]


def undo_last(before: Node, after: Node) -> bool:
    """Put the last line that differs back to what it was; say whether there was one."""
    for key in sorted(after["blocks"], key=natural, reverse=True):
        if undo_last(before["blocks"].get(key, empty()), after["blocks"][key]):
            return True
    both = {**before["lines"], **after["lines"]}
    changed = [key for key in both if before["lines"].get(key) != after["lines"].get(key)]
    if not changed:
        return False
    last = max(changed, key=natural)
    if last in before["lines"]:
        after["lines"][last] = before["lines"][last]
    else:
        del after["lines"][last]
    return True
