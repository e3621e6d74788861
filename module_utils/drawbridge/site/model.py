# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent as frozen dataclasses. Each key is declared once, in the model of its subsystem.

A site without a network, a GPFS cluster, NFS or a Kubernetes cluster leaves out that part, and its layers do nothing.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from typing import Any, Callable, Optional

from ..core.options import option, required
from ..fabric.model import Fabric
from ..kube.model import Kube
from ..nodes.model import Nodes
from ..slurm.model import Slurm
from ..storage.gpfs.model import Gpfs
from ..storage.nfs.model import Nfs


@dataclass(frozen=True)
class Intent:
    """The whole site: a field for each variable `drawbridge_<domain>`.

    A field with the default None is a part that a site may lack. Its text says what Drawbridge then leaves alone.
    """

    nodes: Nodes = option("the nodes")
    slurm: Slurm = option("Slurm")
    fabric: Optional[Fabric] = option("switches and NICs", None)
    gpfs: Optional[Gpfs] = option("Storage Scale", None)
    nfs: Optional[Nfs] = option("NFS", None)
    kube: Optional[Kube] = option("Kubernetes and the gate", None)


DOMAINS: dict[str, type] = {name: required(hint)[0] for name, hint in typing.get_type_hints(Intent).items()}
"""The class of each variable `drawbridge_<domain>`."""
OPTIONAL: dict[str, str] = {
    field.name: field.metadata["doc"] for field in dataclasses.fields(Intent) if field.metadata["default"] is None
}
"""Parts that a site may lack, and what Drawbridge then leaves alone."""
EXPANSIONS: tuple[Callable[..., Any], ...] = ()
"""What entries of one domain stand for in others: pure functions, in their order, whose parameters name domains.

The first is the one that the function returns anew, with what the others add. It may raise IntentError. A domain that
the site may lack has the default None.
"""
