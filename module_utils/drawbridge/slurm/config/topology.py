# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""topology.conf: leaves as a tree or as blocks. Every node is in exactly one leaf."""

from __future__ import annotations

from ...core import hostlist
from ...nodes.model import Nodes
from ..model import Slurm
from ..releases import RELEASES
from .layout_rules import ROOT
from .text import Record, text


def topology_conf(nodes: Nodes, slurm: Slurm) -> str:
    """The file; for a flat network it is empty."""
    shape = {"tree": _tree, "block": _blocks, "none": lambda _leaves, _slurm: []}[slurm.topology]
    return text(shape(leaves(nodes), slurm))


def leaves(nodes: Nodes) -> dict[str, list[str]]:
    """The nodes of every leaf, in the order of the ranges."""
    found: dict[str, list[str]] = {}
    for part in nodes.ranges:
        found.setdefault(part.leaf, []).extend(hostlist.expand(part.names))
    return found


def _tree(found: dict[str, list[str]], _slurm: Slurm) -> list[Record]:
    """All spines of a Clos network are one switch for the scheduler."""
    records: list[Record] = [{"SwitchName": leaf, "Nodes": hostlist.compress(names)} for leaf, names in found.items()]
    if len(found) > 1:
        records.append({"SwitchName": ROOT, "Switches": hostlist.compress(list(found))})
    return records


def _blocks(found: dict[str, list[str]], slurm: Slurm) -> list[Record]:
    """Every block must have at least the first size, so the smallest leaf gives it."""
    records: list[Record] = [{"BlockName": leaf, "Nodes": hostlist.compress(names)} for leaf, names in found.items()]
    smallest = min(len(names) for names in found.values())
    return [*records, {RELEASES[slurm.version].block_sizes: smallest}]
