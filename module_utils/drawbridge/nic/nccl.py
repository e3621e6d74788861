# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What NCCL needs from the intent, so that collectives ride in the lossless class on all rails."""

from __future__ import annotations

from ..nodes.model import Nodes
from .view import TrafficClass

ECT0 = 2
"""ECN field of a packet whose sender understands marking (RFC 3168); without it switches drop instead of mark."""


def nccl_env(nodes: Nodes, lossless: TrafficClass, name: str) -> dict[str, str]:
    """NCCL's variables on one node.

    NCCL_IB_TC is the whole traffic class octet, DSCP and ECN. In NCCL_IB_HCA the `=` makes names exact: mlx5_1 alone
    is a prefix, and takes mlx5_10 too. NCCL_IB_GID_INDEX is left alone: since 2.21 NCCL finds the RoCE v2 address
    itself, and an index depends on the order in which addresses were added.
    """
    return {
        "NCCL_IB_HCA": "=" + ",".join(nodes.class_of(name).nics.rdma_devices),
        "NCCL_IB_TC": str(lossless.dscp << 2 | ECT0),
    }
