# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What one switch needs of the fabric: the lossless class and the ports that carry it, without vendor syntax."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..core import hostlist, ports
from ..core.faults import Fault, IntentError
from ..nodes.model import Nodes
from .cabling import node_ports
from .model import Fabric, SwitchProfile


def switch_profile(fabric: Fabric, name: str, only: Collection[str] | None = None) -> SwitchProfile:
    """The profile of the switch `name`, on all its ports or on these only.

    Raises IntentError when no entry of drawbridge_fabric.switches has it.
    """
    for kind in fabric.switches:
        if hostlist.contains(kind.names, name):
            return SwitchProfile(
                platform=kind.platform,
                asic=kind.asic,
                ports=tuple(port for port in ports.expand(kind.ports) if only is None or port in only),
                mtu_bytes=fabric.switch_mtu_bytes,
                roce=kind.marking(fabric.roce),
                cnp=fabric.cnp,
                watchdog=fabric.watchdog,
                storage=fabric.storage,
                channels=tuple(it for it in kind.port_channels if only is None or {*it.ports} & {*only}),
                cable_m=kind.cable_m,
                lossless_buffer_percent=kind.lossless_buffer_percent,
                queue_buffer_bytes=kind.queue_buffer_bytes,
                ecmp=fabric.ecmp,
            )
    listed, repair = [kind.names for kind in fabric.switches], f"add {name} there, or remove it from the group switches"
    raise IntentError([Fault("drawbridge_fabric.switches", listed, f"none of them is {name}", repair)])


def leaves(nodes: Nodes, names: Iterable[str]) -> list[str]:
    """Leaf switches of the named nodes, each once. A name that no range has is on no leaf."""
    ranges = {id(part): part for name in names if (part := nodes.by_name.get(name))}
    return list(dict.fromkeys(leaf for part in ranges.values() for leaf in part.leaf_names))


def switches_of_nodes(fabric: Fabric, nodes: Nodes, names: Sequence[str]) -> list[str]:
    """The nodes' leaves, and other switches that cabling connects them to, each once."""
    chosen = set(names)
    cables = node_ports(fabric.cabling, nodes) if fabric.cabling else []
    return list(dict.fromkeys([*leaves(nodes, names), *(cable.switch for cable in cables if cable.node in chosen)]))


def ports_of_nodes(fabric: Fabric, nodes: Nodes, switch: str, names: Iterable[str]) -> list[str] | None:
    """Ports of a switch that go to these nodes; None if the intent does not say which."""
    if not (fabric.cabling and fabric.cabling.nodes):
        return None
    chosen = set(names)
    cables = node_ports(fabric.cabling, nodes)
    return [cable.port for cable in cables if cable.switch == switch and cable.node in chosen]
