# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent as frozen dataclasses. Each key is declared once, in the model of its subsystem."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.options import option
from ..fabric.model import Fabric
from ..kube.model import Kube
from ..nodes.model import Nodes
from ..slurm.model import Slurm
from ..storage.gpfs.model import Gpfs


@dataclass(frozen=True)
class Intent:
    """The whole site."""

    fabric: Fabric = option("the network")
    nodes: Nodes = option("the nodes")
    slurm: Slurm = option("Slurm")
    gpfs: Gpfs = option("Storage Scale")
    kube: Kube = option("Kubernetes")
