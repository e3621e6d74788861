# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""topology.conf: units as a tree or as blocks. Every node is in exactly one unit, or Slurm could not use it."""

from __future__ import annotations

from ...core import hostlist
from ...nodes.model import Nodes
from ..model import Slurm
from ..releases import RELEASES
from .layout_rules import ROOT
from .text import Record, text


def topology_conf(nodes: Nodes, slurm: Slurm) -> str:
    """The file; for a flat network it is empty. In a tree all spines of a Clos network are one switch."""
    if slurm.topology == "none":
        return text([])
    units = nodes.units
    key = "BlockName" if slurm.topology == "block" else "SwitchName"
    records: list[Record] = [{key: unit, "Nodes": hostlist.compress(names)} for unit, names in units.items()]
    if slurm.topology == "block":
        # every block must have at least the first size
        records.append({RELEASES[slurm.version].block_sizes: min(map(len, units.values()))})
    elif len(units) > 1:
        records.append({"SwitchName": ROOT, "Switches": hostlist.compress(list(units))})
    return text(records)
