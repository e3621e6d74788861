# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Leaf switches of nodes."""

from __future__ import annotations

from collections.abc import Iterable

from .model import Nodes


def leaves(nodes: Nodes, names: Iterable[str]) -> list[str]:
    """Leaf switches of the named nodes, each once. A name that no range has is on no leaf."""
    ranges = {id(part): part for name in names if (part := nodes.by_name.get(name))}
    return list(dict.fromkeys(leaf for part in ranges.values() for leaf in part.leaf_names))
