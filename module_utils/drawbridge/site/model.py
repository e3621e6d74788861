# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent as frozen dataclasses. Each key is declared once, in the model of its subsystem.

A site without a network, a GPFS cluster, NFS or a Kubernetes cluster leaves out that part, and its layers do nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from ..core.options import option
from ..fabric.model import Fabric
from ..kube.model import Kube
from ..nodes.model import Nodes
from ..slurm.model import Slurm
from ..storage.gpfs.model import Gpfs
from ..storage.nfs.model import Nfs


@dataclass(frozen=True)
class Intent:
    """The whole site."""

    nodes: Nodes = option("the nodes")
    slurm: Slurm = option("Slurm")
    fabric: Optional[Fabric] = option("the network", None)
    gpfs: Optional[Gpfs] = option("Storage Scale", None)
    nfs: Optional[Nfs] = option("NFS", None)
    kube: Optional[Kube] = option("Kubernetes", None)
