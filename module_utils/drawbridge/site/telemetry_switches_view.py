# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Fabric, nodes and metrics meet here: which switches the reader reads, and which node and rail is behind each port."""

from __future__ import annotations

from typing import Any

from ..core import hostlist
from ..fabric.cabling import NodePort, node_ports
from ..fabric.model import Fabric
from ..nodes.model import Nodes
from ..nodes.nics import RAILS
from ..telemetry.model import Telemetry
from .network_view import switch

Json = dict[str, Any]


def telemetry_switches(fabric: Fabric | None, nodes: Nodes, telemetry: Telemetry | None) -> Json:
    """The configuration of the program that reads switches; empty for a site without a reader.

    C(python), C(seconds), C(parallel) and C(user). C(switches), by name: C(profile) as view C(switch) has it, and
    C(nodes), node and rail behind each port, as texts. Only a rail has a number. Without C(drawbridge_fabric.cabling),
    and for ports to other switches, nothing is known.
    """
    reader = telemetry.switches if telemetry else None
    if not (fabric and reader):
        return {}
    left_out = {*hostlist.expand(reader.left_out)}
    names = [name for kind in fabric.switches for name in hostlist.expand(kind.names) if name not in left_out]
    cables: dict[str, dict[str, list[str]]] = {}
    for cable in node_ports(fabric.cabling, nodes) if fabric.cabling else ():
        cables.setdefault(cable.switch, {})[cable.port] = [cable.node, _rail(cable, nodes)]
    return {
        "python": reader.python,
        "seconds": reader.seconds,
        "parallel": reader.parallel,
        "user": reader.user,
        "switches": {name: {"profile": switch(fabric, nodes, name), "nodes": cables.get(name, {})} for name in names},
    }


def _rail(cable: NodePort, nodes: Nodes) -> str:
    """The number of the rail; that of a bond, if the port is one of its members."""
    part = nodes.by_name.get(cable.node)
    nics = nodes.class_at(part).nics_for(RAILS) if part and cable.purpose == RAILS else None
    return str(cable.numbers[0] // nics.ports_per_device) if nics else ""
