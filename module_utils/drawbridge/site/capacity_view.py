# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent as kube.capacity.plan needs it: which nodes are never gated, which are, and whose pods are jobs'."""

from __future__ import annotations

from ..core import hostlist
from ..kube.model import Kube
from ..slurm.model import Slurm
from .gate_view import gated_nodes


def capacity(slurm: Slurm, kube: Kube) -> dict[str, list[str]]:
    """Names of nodes and of namespaces."""
    return {
        "infra": hostlist.expand(kube.infra),
        "gated": gated_nodes(slurm),
        "job_namespaces": [account.namespace for account in slurm.accounts if account.namespace],
    }
