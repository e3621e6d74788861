# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node's RDMA ports need from the intent."""

from __future__ import annotations

from typing import Any

from ..core.faults import Fault, IntentError
from ..site.model import Fabric, NodeClass, Nodes


def nic_qos(nodes: Nodes, fabric: Fabric, name: str) -> dict[str, Any]:
    """The arguments of the module mlnx_qos for one node: all its ports, both classes."""
    classes = (fabric.roce, fabric.cnp)
    return {
        "interfaces": list(described(nodes, name).nics.netdevs),
        "lossless_priorities": [fabric.roce.priority],
        "dscp_priorities": [{"dscp": traffic.dscp, "priority": traffic.priority} for traffic in classes],
    }


def described(nodes: Nodes, name: str) -> NodeClass:
    """The class of a node. Raises IntentError for a node that no range has."""
    part = nodes.range_of(name)
    if part is None:
        raise IntentError([Fault("drawbridge_nodes.ranges", name, "no range has this node", "add it to a range")])
    return nodes.classes[part.node_class]
