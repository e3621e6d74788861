# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent for the gate: its configuration on a host, and its objects in Kubernetes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..core import hostlist
from ..core import names as gate_names
from ..core.names import (
    GATE_NAMESPACE,
    GATED,
    HEALTH,
    HOST_PATHS,
    INFRA,
    MAX_PODS,
    NODES_NAMESPACE,
    OPEN_NODES,
    OPENER,
    QUOTA,
    RECONCILER,
    TENANT_ROLE,
    WORKLOADS,
)
from ..health.model import Health
from ..kube.closed_list.cel import unlisted_fields
from ..kube.closed_list.pods import CLAIM_VOLUME
from ..kube.gpu_resources import device_names
from ..kube.model import Kube
from ..kube.releases.rdma_plugin_view import resources
from ..nodes.model import Nodes
from ..projects.accounts import project_accounts
from ..projects.model import Project, Projects
from ..projects.view import on_day
from ..slurm.model import Slurm
from ..storage.model import SharedFilesystem
from . import projects_kube_view as of_projects
from .compose import apart_from
from .filesystems_view import of_namespaces
from .pod_view import gated_nodes, pod_limits

RBAC = "rbac.authorization.k8s.io"
CONTROLLERS = {"trainer.kubeflow.org": "trainer", "kubeflow.org": "training_operator", "jobset.x-k8s.io": "jobset"}
"""The key of `drawbridge_kube.controllers` for the workloads of an API group."""

LEVELS_OF = {
    "jobsets": "JobSet",
    "pytorchjobs": "PyTorchJob",
    "trainingruntimes": "TrainingRuntime",
    "trainjobs": "TrainJob",
}
"""Levels of the closed list by workloads above Jobs."""

FINISHED = 4
"""How many times as many pods a job namespace may have as may run there: the others are finished."""

Json = dict[str, Any]


def job_namespaces(slurm: Slurm) -> list[str]:
    """Job namespaces."""
    return [account.namespace for account in slurm.accounts if account.namespace]


def infra_capacity(slurm: Slurm, kube: Kube) -> Json:
    """Infra nodes, gated nodes and namespaces of jobs.

    C(infra) and C(gated), names of nodes; C(job_namespaces).
    """
    return {
        "infra": hostlist.expand(kube.infra),
        "gated": gated_nodes(slurm),
        "job_namespaces": job_namespaces(slurm),
    }


@apart_from(project_accounts)
def gate(nodes: Nodes, slurm: Slurm, kube: Kube, name: str) -> Json:
    """The gate's configuration on a node: the site's part of the gate's configuration file.

    It names no namespace of a project: a node reads it from its own state, so that a new project changes no node.
    """
    return gate_controller(nodes, slurm, kube, name)


def gate_controller(nodes: Nodes, slurm: Slurm, kube: Kube, name: str) -> Json:
    """The gate's configuration on the controller: the site's part of the gate's configuration file."""
    gated = [part for part in slurm.partitions if part.gate]
    here = nodes.class_of(name) if nodes.range_of(name) else None
    return {
        "api_server": kube.api_server,
        "ca_file": kube.ca_file,
        "partitions": [part.name for part in gated],
        # on the controller only, so that a new node does not change the files of other nodes
        "partition_nodes": {part.name: part.nodes for part in gated if name == slurm.controller},
        "patience_s": slurm.gate.patience_s,
        "empty_s": slurm.gate.empty_s,
        "pod_grace_s": slurm.gate.pod_grace_s,
        "tries": slurm.gate.tries,
        "namespaces": {account.name: account.namespace for account in slurm.accounts if account.namespace},
        "infra_namespaces": infra_namespaces(kube),
        "pod_limits": pod_limits(nodes, kube, name) if here else {},
        "gpu_daemons": list(here.gpus.made_by.daemons) if here else [],
        "gpu_proof": here.gpus.made_by.proof() if here else {},
    }


def gate_objects(
    slurm: Slurm, kube: Kube, health: Health | None, projects: Projects | None = None, today: str = ""
) -> Json:
    """What a run writes for the gate in Kubernetes, and what it looks at.

    C(namespaces), then C(accounts), lists of manifests. C(tenant_roles), which job namespaces may bind; C(nodes), all
    gated nodes; C(infra) and C(jobs), namespaces. At a site with projects C(projects), the manifests of these on a day
    (C(today), as year-month-day), and C(ended), namespaces of those that have ended.
    """
    projects = on_day(projects, today) if projects else None
    return {
        "namespaces": namespaces(slurm, projects),
        "accounts": objects(slurm, health, projects),
        **({"projects": project_objects(slurm, projects)} if projects else {}),
        **({"ended": of_projects.ended(slurm, projects)} if projects else {}),
        "tenant_roles": tenant_roles(kube),
        "nodes": gated_nodes(slurm),
        "infra": list(kube.infra_namespaces),
        "jobs": job_namespaces(slurm),
    }


def accounts(health: Health | None) -> tuple[str, ...]:
    """The accounts of the controller. That of health exists where findings are decided about."""
    return (OPENER, RECONCILER, *((HEALTH,) if health else ()))


def objects(slurm: Slurm, health: Health | None = None, projects: Projects | None = None) -> list[Json]:
    """What a run writes beside namespaces: ServiceAccounts, and the quota of each job namespace of an account."""
    own = of_projects.of_namespaces(slurm, projects)
    return [
        *(_account(GATE_NAMESPACE, name) for name in accounts(health)),
        *(_account(NODES_NAMESPACE, node) for node in gated_nodes(slurm)),
        *(_quota(it, max_pods(slurm), slurm.gate.objects) for it in job_namespaces(slurm) if it not in own),
    ]


def project_objects(slurm: Slurm, projects: Projects) -> list[Json]:
    """What a run writes in namespaces of projects: also the gate's RoleBindings, so that no administrator has to."""
    own = of_projects.of_namespaces(slurm, projects)
    return [
        *(_quota(space, max_pods(slurm), slurm.gate.objects, it) for space, it in own.items()),
        *_bindings(own),
        *of_projects.volumes(slurm, projects),
    ]


def bindings(slurm: Slurm, projects: Projects | None = None) -> list[Json]:
    """The gate's RoleBindings in namespaces of accounts. Their ClusterRoles are the same at all sites and are files."""
    own = of_projects.of_namespaces(slurm, projects)
    return _bindings(it for it in job_namespaces(slurm) if it not in own)


def _bindings(spaces: Iterable[str]) -> list[Json]:
    return [
        _binding(space, f"drawbridge-{role}", subject)
        for space in spaces
        for role, subject in (
            (OPENER, {"kind": "ServiceAccount", "namespace": GATE_NAMESPACE, "name": OPENER}),
            (RECONCILER, {"kind": "ServiceAccount", "namespace": GATE_NAMESPACE, "name": RECONCILER}),
            ("node", {"kind": "Group", "apiGroup": RBAC, "name": f"system:serviceaccounts:{NODES_NAMESPACE}"}),
        )
    ]


def max_pods(slurm: Slurm) -> int:
    """The largest number of pods of one workload, and of one namespace."""
    return slurm.gate.pods_per_node * len(gated_nodes(slurm))


def infra_namespaces(kube: Kube) -> list[str]:
    """Infrastructure namespaces: those of the gate and of the intent."""
    return [GATE_NAMESPACE, NODES_NAMESPACE, *kube.infra_namespaces]


def names(kube: Kube, nodes: Nodes, projects: bool = False, drivers: Sequence[str] = ()) -> dict[str, Any]:
    """Variables of the role's manifests: the gate's names in lower case, the site's schedulers and controllers.

    C(has_projects): whether the site has drawbridge_projects. C(drivers): namespaces of drivers of file systems.
    """
    without = () if projects else (CLAIM_VOLUME,)
    own = {key.lower(): value for key, value in vars(gate_names).items() if key.isupper()}
    controllers = {key: _user(account) for key, account in vars(kube.controllers).items()}
    workloads = {group: list(resources) for group, resources in WORKLOADS.items()}
    jobs_may = [group for group in WORKLOADS if group not in CONTROLLERS or controllers[CONTROLLERS[group]]]
    return {
        **own,
        "workloads": workloads,
        "schedulers": list(kube.schedulers),
        "controllers": controllers,
        "jobs_may": jobs_may,
        "tenant_roles": tenant_roles(kube),
        "audiences": list(kube.audiences),
        "levels": LEVELS_OF,
        "unlisted_fields": {
            "Pod": unlisted_fields("Pod", "pod", without),
            **{it: unlisted_fields(it, "spec", without) for it in ("Job", *LEVELS_OF.values())},
        },
        "has_projects": projects,
        "drivers": list(drivers),
        "devices": [
            *device_names(nodes, kube.gpu_operator.mig_strategy),
            *(f"rdma/{part.name}" for part in resources(nodes, kube)),
            *kube.devices,
        ],
    }


def namespaces(slurm: Slurm, projects: Projects | None = None) -> list[Json]:
    """What a run says of namespaces: which ones are for jobs, and how many pods they may have.

    Of those of projects it says all that an administrator allows, and makes them.
    """
    own, mounts = of_projects.of_namespaces(slurm, projects), of_namespaces(slurm, ())
    said = {name: {"labels": {GATED: "true"}} for name in job_namespaces(slurm)}
    if projects:
        said |= {name: of_projects.metadata(it, projects, mounts[name]) for name, it in own.items()}
    most = {MAX_PODS: str(max_pods(slurm))}
    return [
        namespace(name, **{**it, "annotations": {**it.get("annotations", {}), **most}}) for name, it in said.items()
    ]


def tenant_roles(kube: Kube) -> list[str]:
    """ClusterRoles that may be bound in job namespaces."""
    return ["view", TENANT_ROLE, *kube.tenant_roles]


def infrastructure(kube: Kube) -> list[Json]:
    """Infrastructure namespaces with their label, which keeps the policies from refusing their pods."""
    return [namespace(name, labels={INFRA: "true"}) for name in infra_namespaces(kube)]


def with_mounts(slurm: Slurm, filesystems: Iterable[SharedFilesystem], projects: Projects | None = None) -> list[Json]:
    """Job namespaces of accounts with the paths that pods may mount."""
    seen, own = of_namespaces(slurm, filesystems), of_projects.of_namespaces(slurm, projects)
    return [
        namespace(it, annotations={HOST_PATHS: ",".join(seen[it])}) for it in job_namespaces(slurm) if it not in own
    ]


def namespace(name: str, **metadata: Json) -> Json:
    """A Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **metadata}}


def _user(account: str) -> str:
    """The user name of a ServiceAccount namespace/name; "" for none."""
    return f"system:serviceaccount:{account.replace('/', ':')}" if account else ""


def open_nodes(kube: Kube) -> Json:
    """Nodes that may register without the taint, as a policy's parameter."""
    metadata = {"name": OPEN_NODES, "namespace": GATE_NAMESPACE}
    nodes = {name: "" for name in hostlist.expand(kube.infra)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": nodes}


def _account(namespace: str, name: str) -> Json:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, "automountServiceAccountToken": False}


def _quota(namespace: str, most: int, objects: int, project: Project | None = None) -> Json:
    """`pods` counts what runs or waits. Jobs may keep some finished pods beside it. A project has its claims alone."""
    counts = [f"count/{kind}.{group}" for group, kinds in WORKLOADS.items() for kind in kinds]
    metadata = {"name": QUOTA, "namespace": namespace}
    hard = {kind: str(most) for kind in ("pods", *counts)} | {"count/pods": str(most * FINISHED)}
    hard |= {f"count/{kind}": str(objects) for kind in ("configmaps", "secrets", "services")}
    if project:
        hard |= of_projects.claim_limits(project)
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}


def _binding(namespace: str, role: str, subject: Json) -> Json:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": role, "namespace": namespace},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": f"{role}-namespace"},
        "subjects": [subject],
    }
