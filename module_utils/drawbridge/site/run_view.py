# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent for programs of people: drawbridge-run, and drawbridge status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..kube.model import Kube
from ..kube.releases.rdma_plugin_view import resources
from ..nodes.model import Nodes
from ..projects.accounts import project_accounts
from ..slurm.model import Slurm
from ..slurm.resets.view import periods
from ..storage.kinds import shared
from ..telemetry.model import Telemetry
from .compose import apart_from
from .filesystems_view import of_namespaces
from .pod_view import has_unlike_nodes
from .telemetry_view import telemetry_reports


@apart_from(project_accounts)
def drawbridge_run(nodes: Nodes, slurm: Slurm, filesystems: Mapping[str, Any], kube: Kube, name: str) -> dict[str, Any]:
    """The configuration of drawbridge-run on a host.

    What pods of a project see, the program reads from its namespace, so that a new project changes no node.
    """
    here = nodes.class_of(name) if nodes.range_of(name) else None
    return {
        "partitions": [part.name for part in slurm.partitions if part.gate],
        "namespaces": {account.name: account.namespace for account in slurm.accounts if account.namespace},
        "mounts": of_namespaces(slurm, shared(filesystems)),
        "gpu_resource": here.gpus.made_by.resource if here else "",
        "devices": _devices(kube, nodes, len(here.rails)) if here else {},
        "kill_wait_s": slurm.kill_wait_s,
        **({"unlike_nodes": True} if has_unlike_nodes(nodes, slurm, kube) else {}),
        **_budgets(slurm),
    }


def _budgets(slurm: Slurm) -> dict[str, Any]:
    found = periods(slurm)
    return {"budgets": found} if found else {}


def _devices(kube: Kube, nodes: Nodes, rails: int) -> dict[str, str]:
    """A share of every RDMA device of a node with so many rails."""
    found = resources(nodes, kube)
    return {f"rdma/{part.name}": "1" for part in found if any(rail < rails for rail in part.rails)}


def drawbridge_status(slurm: Slurm, telemetry: Telemetry | None = None) -> dict[str, Any]:
    """The configuration of the command C(drawbridge): gated partitions, where Prometheus answers, periods of budgets.

    It names no node, so that nodes that join or leave do not change it.
    """
    gated = [part.name for part in slurm.partitions if part.gate]
    return {"gated": gated, **telemetry_reports(telemetry), **_budgets(slurm)}
