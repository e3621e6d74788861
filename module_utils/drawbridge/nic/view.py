# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What RDMA ports and NCCL of one node need from the intent."""

from __future__ import annotations

from typing import Any, Protocol

from ..nodes.model import Nodes

ECT0 = 2
"""ECN field of a packet whose sender supports marking (RFC 3168). Without it switches drop instead of mark."""


class TrafficClass(Protocol):
    """A traffic class of the fabric."""

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


def nccl_env(nodes: Nodes, lossless: TrafficClass, name: str) -> dict[str, str]:
    """NCCL's variables on one node: collectives use the lossless class on all rails.

    NCCL_IB_TC is the whole traffic class octet, DSCP and ECN. In NCCL_IB_HCA the `=` makes names exact; without it
    mlx5_1 also matches mlx5_10. NCCL_IB_GID_INDEX stays unset: since 2.21 NCCL finds the RoCE v2 address itself, and an
    index depends on the order in which addresses were added.
    """
    return {
        "NCCL_IB_HCA": "=" + ",".join(nodes.class_of(name).nics.rdma_devices),
        "NCCL_IB_TC": str(lossless.dscp << 2 | ECT0),
    }
