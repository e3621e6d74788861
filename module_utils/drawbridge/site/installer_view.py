# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the intent: the objects that an administrator applies, because whoever may write them may do everything.

The role's templates hold those that are the same at all sites.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core.names import INSTALLER, INSTALLER_NAMESPACE, INSTALLER_USER, PLATFORM
from ..health.model import Health
from ..kube.model import Kube
from ..kube.releases.catalogue import CHARTS, NVIDIA, Chart
from ..kube.releases.gpu_operator_view import LABELS, gpu_operator
from ..kube.rights.rbac import ROLE, Grant, Json, rules
from ..nodes.model import Nodes
from ..projects.model import Projects
from ..slurm.model import Slurm
from ..storage.kinds import drivers, shared, storage_classes
from .gate_view import RBAC, bindings, infrastructure, names, namespace, open_nodes, with_mounts
from .installer_grants import grants
from .projects_kube_view import allowed

ACT = "drawbridge-act-as-installer"
GROUP = {"kind": "Group", "apiGroup": RBAC, "name": INSTALLER}
JOINING = {
    "drawbridge-node-bootstrap": ("system:node-bootstrapper", "system:bootstrappers:drawbridge"),
    "drawbridge-node-renewal": ("system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:nodes"),
}
"""Kubernetes' own roles for kubelets that join, and the groups that get them. A token only allows a request."""


def kube_installer(
    nodes: Nodes,
    slurm: Slurm,
    filesystems: Mapping[str, Any],
    kube: Kube,
    health: Health | None,
    projects: Projects | None = None,
) -> Json:
    """What an administrator applies in Kubernetes.

    C(rights) and C(policies), lists of manifests; C(names) for the role's templates.
    """
    charts = [CHARTS[it["vendor"]] for it in gpu_operator(nodes, kube)]
    # rights come before a run, policies after it has seen that nothing on the nodes conflicts with them
    return {
        "rights": rights(slurm, filesystems, kube, health, projects, charts),
        "policies": [open_nodes(kube)],
        "names": names(kube, nodes, projects is not None, [it.namespace for it in drivers(filesystems).values()]),
    }


def rights(
    slurm: Slurm,
    filesystems: Mapping[str, Any],
    kube: Kube,
    health: Health | None = None,
    projects: Projects | None = None,
    charts: Sequence[Chart] = (NVIDIA,),
) -> list[Json]:
    """Namespaces, the rights of a run, and bindings of the gate. Namespaces come first."""
    parts = grants(slurm, kube, health, projects, drivers(filesystems), charts)
    needed = [grant for part in parts.values() for grant in part]
    spaces = list(dict.fromkeys([INSTALLER_NAMESPACE, *(grant.namespace for grant in needed if grant.namespace)]))
    acts = [
        Grant("", "users", ("impersonate",), (INSTALLER_USER,)),
        Grant("", "groups", ("impersonate",), (PLATFORM, INSTALLER)),
    ]
    account = {"kind": "ServiceAccount", "namespace": INSTALLER_NAMESPACE, "name": "installer"}
    found = [
        *_namespaces(kube, spaces, [it.namespace for it in drivers(filesystems).values()]),
        *with_mounts(slurm, shared(filesystems), projects),
    ]
    found += [
        _object("v1", "ServiceAccount", "installer", INSTALLER_NAMESPACE, automountServiceAccountToken=False),
        # the only pod that a run creates is a trial, which the policies refuse
        _object("v1", "ResourceQuota", "no-pods", INSTALLER_NAMESPACE, spec={"hard": {"pods": "0"}}),
        _role("ClusterRole", ACT, acts),
        _binding("ClusterRole", ACT, [account, GROUP]),
        _role("ClusterRole", ROLE, [grant for grant in needed if not grant.namespace]),
        _binding("ClusterRole", ROLE, [GROUP]),
    ]
    for space in spaces:
        if within := [grant for grant in needed if grant.namespace == space]:
            found += [_role("Role", ROLE, within, space), _binding("Role", ROLE, [GROUP], space)]
    found += [*(_joining() if kube.join == "drawbridge" else ()), *bindings(slurm, projects)]
    return [*found, *([allowed(slurm, projects, storage_classes(filesystems))] if projects else [])]


def _namespaces(kube: Kube, spaces: Iterable[str], privileged: Iterable[str]) -> list[Json]:
    """Those of a run's rights, and infrastructure, with their labels. The same one twice would lose labels."""
    part = kube.gpu_operator
    found = {it["metadata"]["name"]: it for it in (*map(namespace, spaces), *infrastructure(kube))}
    if part.install:
        found[part.namespace] = namespace(part.namespace, labels=LABELS)
    found |= {name: namespace(name, labels=LABELS) for name in privileged}
    return [*found.values()]


def _joining() -> list[Json]:
    groups = {name: {"kind": "Group", "apiGroup": RBAC, "name": group} for name, (_, group) in JOINING.items()}
    return [_binding("ClusterRole", role, [groups[name]], name=name) for name, (role, _) in JOINING.items()]


def _object(version: str, kind: str, name: str, namespace: str = "", **content: Any) -> Json:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


def _role(kind: str, name: str, within: list[Grant], namespace: str = "") -> Json:
    return _object(f"{RBAC}/v1", kind, name, namespace, rules=rules(within))


def _binding(kind: str, role: str, subjects: list[Json], namespace: str = "", name: str = "") -> Json:
    ref = {"apiGroup": RBAC, "kind": kind, "name": role}
    return _object(f"{RBAC}/v1", f"{kind}Binding", name or role, namespace, roleRef=ref, subjects=subjects)
