# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whose traffic passes a switch, and the order of switches, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import hostlist
from ..nodes.model import Nodes
from .model import Fabric
from .traffic import link_ports, nodes_behind, rounds, waves


def switch_traffic(fabric: Fabric, nodes: Nodes, name: str) -> dict[str, Any]:
    """Whose traffic passes the ports of one switch.

    C(behind), a hostlist of nodes for each port, and C(links), ports that go to other switches.
    """
    behind = {port: hostlist.in_order(found) for port, found in nodes_behind(fabric, nodes, name).items()}
    return {"behind": behind, "links": link_ports(fabric, name)}


def switch_waves(fabric: Fabric | None, nodes: Nodes, chosen: Sequence[str]) -> list[list[str]]:
    """Switches in the order of changes that interrupt traffic: a node loses one rail at a time, spines are last.

    Lists of names. Switches of one list may change at the same time.
    """
    return waves(fabric, nodes, chosen) if fabric and chosen else []


def switch_rounds(fabric: Fabric | None, chosen: Sequence[str]) -> list[list[str]]:
    """Switches in two rounds: the second switch of each MLAG pair changes after the first, all others with it.

    Two lists of names.
    """
    return rounds(fabric, chosen) if fabric else [[*chosen], []]
