# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The rights that the tasks of each role need in Kubernetes. The API server's audit log of a run proves this list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core.names import (
    GATE_NAMESPACE,
    IDENTITIES,
    INSTALLER_NAMESPACE,
    NODES_NAMESPACE,
    OPEN_NODES,
    PROJECTS,
    QUOTA,
)
from ..health.model import Health
from ..kube.member.text import CLIENT_SIGNER, SERVING_SIGNER
from ..kube.model import Kube
from ..kube.releases.catalogue import NVIDIA, Chart
from ..kube.releases.rdma_plugin_view import NAME as RDMA_PLUGIN
from ..kube.rights.rbac import Grant
from ..projects.model import Projects
from ..slurm.model import Slurm
from ..storage.model import Driver
from .gate_view import RBAC, accounts, job_namespaces
from .projects_kube_view import of_namespaces

APPLY = ("get", "create", "patch")
"""Verbs of a server-side apply. With it, unlike with a POST, `create` can be granted for one name."""
ADMISSION, CERTIFICATES = "admissionregistration.k8s.io", "certificates.k8s.io"
KUBE_SYSTEM = "kube-system"
READ = (
    *(("", it) for it in ("nodes", "pods", "namespaces", "serviceaccounts")),
    *(("apps", it) for it in ("daemonsets", "deployments")),
    *((RBAC, it) for it in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")),
    *((ADMISSION, it) for it in ("validatingadmissionpolicies", "validatingadmissionpolicybindings")),
    ("nvidia.com", "clusterpolicies"),
    ("mellanox.com", "nicclusterpolicies"),
    ("sriovnetwork.openshift.io", "sriovoperatorconfigs"),
    ("amd.com", "deviceconfigs"),
)


def grants(
    slurm: Slurm,
    kube: Kube,
    health: Health | None = None,
    projects: Projects | None = None,
    drivers: Mapping[str, Driver] | None = None,
    charts: Sequence[Chart] = (NVIDIA,),
) -> dict[str, list[Grant]]:
    """What the tasks of each role need. `charts` are those that give pods their GPUs.

    None of it lets a run give a right, except the GPU operator's chart and the operators of storage drivers. In
    namespaces of projects it gives the gate's own.
    """
    return {
        **{f"{kind}_csi": [Grant(**vars(it)) for it in driver.rights] for kind, driver in (drivers or {}).items()},
        "kube_node": _kube_node(kube),
        "gpu_operator": [Grant("", "nodes", ("list",)), Grant("", "pods", ("list",)), *_gpu_operator(kube, charts)],
        "rdma_plugin": _rdma_plugin(kube),
        "slurm_gate": [*_gate_objects(slurm, health, projects), *_adoption(), *(_projects() if projects else ())],
    }


def _kube_node(kube: Kube) -> list[Grant]:
    """A token, approvals and deletion of one node. None if the site joins."""
    if kube.join != "drawbridge":
        return []
    return [
        Grant("", "secrets", ("create", "delete"), namespace=KUBE_SYSTEM),
        Grant(CERTIFICATES, "certificatesigningrequests", ("list", "watch")),
        Grant(CERTIFICATES, "certificatesigningrequests/approval", ("update",)),
        Grant(CERTIFICATES, "signers", ("approve",), (CLIENT_SIGNER, SERVING_SIGNER)),
        Grant("", "nodes", ("get", "delete")),
    ]


def _gpu_operator(kube: Kube, charts: Sequence[Chart]) -> list[Grant]:
    """Objects of the whole cluster by name; in the release's namespace by kind."""
    part = kube.gpu_operator
    if not (part.install and charts):
        return []
    found = []
    for it in (one for chart in charts for one in chart.objects):
        space = part.namespace if it.namespaced else ""
        verbs = (*APPLY, "delete") if it.optional else APPLY
        found.append(Grant(it.group, it.resource, verbs, it.names, space))
        if it.resource in ("roles", "clusterroles"):
            found.append(Grant(it.group, it.resource, ("bind", "escalate"), it.names, space))
    # helm keeps its record of a release in them
    return [*found, Grant("", "secrets", ("get", "list", "create", "update", "delete"), namespace=part.namespace)]


def _rdma_plugin(kube: Kube) -> list[Grant]:
    if not kube.rdma.install:
        return []
    kinds = (("", "configmaps"), ("apps", "daemonsets"))
    return [Grant(group, resource, APPLY, (RDMA_PLUGIN,), kube.rdma.namespace) for group, resource in kinds]


def _gate_objects(slurm: Slurm, health: Health | None, projects: Projects | None) -> list[Grant]:
    """Purpose and size of job namespaces; identities and their tokens."""
    own = of_namespaces(slurm, projects)
    return [
        Grant("", "namespaces", ("get", "patch"), tuple(it for it in job_namespaces(slurm) if it not in own)),
        Grant("", "resourcequotas", APPLY, (QUOTA,)),
        Grant("", "configmaps", ("get",), (OPEN_NODES,), GATE_NAMESPACE),
        Grant("", "serviceaccounts", APPLY, accounts(health), GATE_NAMESPACE),
        Grant("", "serviceaccounts/token", ("create",), accounts(health), GATE_NAMESPACE),
        # named like the nodes, so that a new node changes no rights
        Grant("", "serviceaccounts", APPLY, namespace=NODES_NAMESPACE),
        Grant("", "serviceaccounts/token", ("create",), namespace=NODES_NAMESPACE),
    ]


def _projects() -> list[Grant]:
    """Namespaces of projects that do not exist yet, so without names: the policy drawbridge-projects narrows these."""
    roles = tuple(f"{it}-namespace" for it in IDENTITIES)
    return [
        Grant("", "namespaces", APPLY),
        Grant(RBAC, "rolebindings", APPLY, IDENTITIES),
        Grant(RBAC, "clusterroles", ("bind",), roles),
        Grant("", "persistentvolumes", (*APPLY, "list", "delete")),
        Grant("", "persistentvolumeclaims", (*APPLY, "list", "delete")),
        Grant("", "configmaps", ("get",), (PROJECTS,), GATE_NAMESPACE),
    ]


def _adoption() -> list[Grant]:
    """Compare the administrator's objects, look for conflicts, evict non-job pods, close nodes."""
    return [
        *(Grant(group, resource, ("list",)) for group, resource in READ),
        Grant("", "nodes", ("get", "patch")),
        Grant("", "pods", ("get",)),
        Grant("", "pods/eviction", ("create",)),
        Grant("", "pods", ("create",), namespace=INSTALLER_NAMESPACE),
    ]
