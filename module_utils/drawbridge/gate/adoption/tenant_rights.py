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

from ...core.names import BREAKGLASS, INSTALLER, JOB_ACCOUNT, NOT_FOR_TENANTS, PLATFORM, TENANT_ROLE
from .operators import Actor

Json = Mapping[str, Any]
GATES_OWN = "drawbridge-"
EXEMPT_GROUPS = ("system:", "kubeadm:cluster-admins", PLATFORM, BREAKGLASS, INSTALLER)
"""Prefixes of groups and users that are administrators' or Kubernetes' own."""
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
    """RoleBindings to ClusterRoles that are not `allowed`, and Roles with too many rights, in namespaces of jobs."""
    known, found = set(allowed), []
    for it in bindings:
        space, name, role = it["metadata"]["namespace"], it["metadata"]["name"], it["roleRef"]
        if role["kind"] == "ClusterRole" and role["name"] not in known and not _of_the_gate(name):
            does = (
                f"gives ClusterRole {role['name']} to {_people(it)}, which may have rights that reach other users' jobs"
            )
            repair = f"{HOW}, then: kubectl delete rolebinding -n {space} {name}"
            found.append(Actor(f"rolebinding/{space}/{name}", f"RoleBinding {space}/{name}", does, repair))
    for it in roles:
        space, name = it["metadata"]["namespace"], it["metadata"]["name"]
        if not _of_the_gate(name) and (right := reaches_jobs(it)):
            repair = f"take that rule out: kubectl edit role -n {space} {name}"
            does = f"may {right}, which reaches other users' jobs"
            found.append(Actor(f"role/{space}/{name}", f"Role {space}/{name}", does, repair))
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


def _of_the_gate(name: str) -> bool:
    return name.startswith(GATES_OWN) or bool(re.fullmatch(f"{JOB_ACCOUNT}(-run)?", name))


def _exempt(who: Json, infra: set[str]) -> bool:
    if who["kind"] == "ServiceAccount":
        return who.get("namespace") in infra
    return str(who["name"]).startswith(EXEMPT_GROUPS)


def _people(binding: Json) -> str:
    subjects = binding.get("subjects") or []
    if not subjects:
        return "no subject"
    first = subjects[0]
    more = f" and {len(subjects) - 1} more" if subjects[1:] else ""
    return f"{first['kind']} {first['name']}{more}"
