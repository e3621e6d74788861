# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent for `drawbridge status`: the same on all hosts."""

from __future__ import annotations

from typing import Any

from ..core import hostlist
from ..kube.model import Kube
from ..nodes.model import Nodes
from ..slurm.model import Slurm


def drawbridge_status(nodes: Nodes, slurm: Slurm, kube: Kube | None) -> dict[str, Any]:
    """The configuration of C(drawbridge status): gated partitions and units."""
    return {
        # without Kubernetes no partition is gated
        "gated": [part.name for part in slurm.partitions if part.gate and kube],
        "units": {unit: hostlist.in_order(names) for unit, names in nodes.units.items()},
    }
