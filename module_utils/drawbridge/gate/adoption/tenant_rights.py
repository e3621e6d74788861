# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""RBAC objects -> rights in namespaces of jobs that reach other users' jobs.

A user who may impersonate a job's account acts as that job, and no admission policy can see that. So bindings that are
older than the policies must be found and replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...core.names import (
    BREAKGLASS,
    GATE_NAMESPACE,
    INSTALLER,
    JOB_ACCOUNT,
    JOB_ROLE,
    NODES_NAMESPACE,
    NOT_FOR_TENANTS,
    OPENER,
    PLATFORM,
    RECONCILER,
    TENANT_ROLE,
)
from .operators import Actor

Json = Mapping[str, Any]
GATES_OWN = {
    f"drawbridge-{OPENER}": ("ServiceAccount", GATE_NAMESPACE, OPENER),
    f"drawbridge-{RECONCILER}": ("ServiceAccount", GATE_NAMESPACE, RECONCILER),
    "drawbridge-node": ("Group", "", f"system:serviceaccounts:{NODES_NAMESPACE}"),
}
"""RoleBindings that role slurm_gate makes in each namespace of jobs, with their one subject."""
ACCOUNTS = "system:serviceaccounts:"
"""How the group of a namespace's ServiceAccounts begins; without the colon it is the group of all of them."""
ADMINISTRATORS = {"system:masters", "system:nodes", "kubeadm:cluster-admins", PLATFORM, BREAKGLASS, INSTALLER}
"""Groups of administrators, and of kubelets, which NodeRestriction and the node authorizer narrow."""
KUBERNETES = ("system:kube-", "system:node:", "system:apiserver")
"""How users begin that are Kubernetes' own parts."""
FORBIDDEN_VERBS = ("*", "bind", "escalate")
HOW = f"bind ClusterRole {TENANT_ROLE} (or view) instead"


def reaches_jobs(role: Json) -> str:
    """A role's right that reaches other users' jobs, or "". The policy for new Roles has the same rule."""
    for rule in role.get("rules") or []:
        verbs, resources = rule.get("verbs") or [], rule.get("resources") or []
        if bad := [it for it in verbs if it in FORBIDDEN_VERBS or it.startswith("impersonate")]:
            return f"{bad[0]} {', '.join(resources) or 'everything'}"
        if bad := [it for it in resources if "*" in it or it in NOT_FOR_TENANTS]:
            return f"{', '.join(verbs)} {bad[0]}"
        if "pods" in resources and (bad := [it for it in verbs if it in ("patch", "update")]):
            return f"{bad[0]} pods"
    return ""


def binding_actors(bindings: Iterable[Json], roles: Iterable[Json], allowed: Iterable[str]) -> list[Actor]:
    """RoleBindings to ClusterRoles that are not `allowed`, and Roles with too many rights, in namespaces of jobs.

    A name makes nothing the gate's own: its objects, and those of jobs, are known by all that they say.
    """
    known, found = set(allowed), []
    for it in bindings:
        space, name, role = it["metadata"]["namespace"], it["metadata"]["name"], it["roleRef"]
        if role["kind"] == "ClusterRole" and role["name"] not in known and not _is_the_gates(it):
            does = (
                f"gives ClusterRole {role['name']} to {_people(it)}, which may have rights that reach other users' jobs"
            )
            repair = f"{HOW}, then: kubectl delete rolebinding -n {space} {name}"
            found.append(Actor(f"rolebinding/{space}/{name}", f"RoleBinding {space}/{name}", does, repair))
    for it in roles:
        space, name = it["metadata"]["namespace"], it["metadata"]["name"]
        if not _is_a_jobs(it) and (right := reaches_jobs(it)):
            repair = f"take that rule out: kubectl edit role -n {space} {name}"
            does = f"may {right}, which reaches other users' jobs"
            found.append(Actor(f"role/{space}/{name}", f"Role {space}/{name}", does, repair))
    return found


def listed_roles(roles: Iterable[Json], allowed: Iterable[str]) -> list[Actor]:
    """ClusterRoles that tenants may bind, whose rights reach other users' jobs."""
    known, found = set(allowed), []
    for name, right in ((it["metadata"]["name"], reaches_jobs(it)) for it in roles):
        if name in known and right:
            does = (
                f"may {right}, which reaches other users' jobs, and drawbridge_kube.tenant_roles lets tenants bind it"
            )
            repair = f"take it off that list, or the rule out: kubectl edit clusterrole {name}"
            found.append(Actor(f"clusterrole/{name}", f"ClusterRole {name}", does, repair))
    return found


def cluster_wide(bindings: Iterable[Json], roles: Iterable[Json], infra: Iterable[str]) -> list[str]:
    """ClusterRoleBindings whose rights reach jobs in all namespaces, as sentences.

    Except those of administrators, of Kubernetes itself, and of infrastructure, which is trusted.
    """
    rights = {it["metadata"]["name"]: reaches_jobs(it) for it in roles}
    spaces, found = set(infra), []
    for it in bindings:
        right = rights.get(it["roleRef"]["name"], "")
        people = [who for who in it.get("subjects") or [] if not _exempt(who, spaces)]
        if right and people:
            found.append(
                f"ClusterRoleBinding {it['metadata']['name']} lets {_people({'subjects': people})} {right} in every "
                f"namespace, also in those of jobs; bind ClusterRole {it['roleRef']['name']} in the namespaces "
                "where it is needed"
            )
    return found


def _is_the_gates(binding: Json) -> bool:
    """Whether a RoleBinding is one of the gate's own, or of a job's identity."""
    name, role = binding["metadata"]["name"], binding["roleRef"]["name"]
    subjects = [(who["kind"], who.get("namespace") or "", who["name"]) for who in binding.get("subjects") or []]
    if name in GATES_OWN:
        return role == f"{name}-namespace" and subjects == [GATES_OWN[name]]
    account = name.removesuffix("-run")
    of_a_job = name != account and re.fullmatch(JOB_ACCOUNT, account) is not None
    return of_a_job and role == JOB_ROLE and subjects == [("ServiceAccount", binding["metadata"]["namespace"], account)]


def _is_a_jobs(role: Json) -> bool:
    """Whether a Role is of a job's identity: tokens of its account, and nothing else."""
    name = role["metadata"]["name"]
    rule = {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"], "resourceNames": [name]}
    return re.fullmatch(JOB_ACCOUNT, name) is not None and role.get("rules") == [rule]


def _exempt(who: Json, infra: set[str]) -> bool:
    kind, name = who["kind"], str(who["name"])
    if kind == "ServiceAccount":
        return who.get("namespace") in infra
    if kind == "Group":
        return name in ADMINISTRATORS or (name.startswith(ACCOUNTS) and name.removeprefix(ACCOUNTS) in infra)
    account = name.split(":")
    if account[:2] == ["system", "serviceaccount"]:
        return not infra.isdisjoint(account[2:3])
    return name.startswith(KUBERNETES)


def _people(binding: Json) -> str:
    subjects = binding.get("subjects") or []
    if not subjects:
        return "no subject"
    first = subjects[0]
    more = f" and {len(subjects) - 1} more" if subjects[1:] else ""
    return f"{first['kind']} {first['name']}{more}"
