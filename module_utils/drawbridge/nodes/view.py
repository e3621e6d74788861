# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Leaf switches of nodes."""

from __future__ import annotations

from collections.abc import Iterable

from .model import Nodes


def leaves(nodes: Nodes, names: Iterable[str]) -> list[str]:
    """Leaf switches of the named nodes, each once. A name that no range has is on no leaf."""
    return list(dict.fromkeys(nodes.by_name[name].leaf for name in names if name in nodes.by_name))
