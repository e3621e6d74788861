# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node's RDMA ports need from the intent."""

from __future__ import annotations

from typing import Any, Protocol

from ..nodes.model import Nodes


class TrafficClass(Protocol):
    """What a port must know of a class of the fabric."""

    @property
    def priority(self) -> int:
        """Priority, 0 to 7."""
        ...

    @property
    def dscp(self) -> int:
        """DSCP, 0 to 63."""
        ...


def nic_qos(nodes: Nodes, lossless: TrafficClass, cnp: TrafficClass, name: str) -> dict[str, Any]:
    """The arguments of the module mlnx_qos for one node: all its ports, both classes."""
    return {
        "interfaces": list(nodes.class_of(name).nics.netdevs),
        "lossless_priorities": [lossless.priority],
        "dscp_priorities": [{"dscp": traffic.dscp, "priority": traffic.priority} for traffic in (lossless, cnp)],
    }
