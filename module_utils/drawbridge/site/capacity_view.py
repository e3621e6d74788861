# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent for kube.capacity.plan: infra nodes, gated nodes and job namespaces."""

from __future__ import annotations

from ..core import hostlist
from ..kube.model import Kube
from ..slurm.model import Slurm
from .gate_view import gated_nodes, job_namespaces


def capacity(slurm: Slurm, kube: Kube) -> dict[str, list[str]]:
    """Names of nodes and of namespaces."""
    return {
        "infra": hostlist.expand(kube.infra),
        "gated": gated_nodes(slurm),
        "job_namespaces": job_namespaces(slurm),
    }
