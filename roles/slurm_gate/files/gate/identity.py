# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A job's identity in Kubernetes: a ServiceAccount, whose name contains job, uid and gid, and its rights. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .gate_names import (
    GROUPS,
    GROUPS_SUFFIX,
    JOB_ACCOUNT,
    JOB_LABEL,
    JOB_ROLE,
    NODES_NAMESPACE,
    OF_USER,
    PREFIX,
)
from .states import Json, Owner

RUN = "-run"
NAME = re.compile(rf"({JOB_ACCOUNT})({RUN})?")


def name(job: int, uid: int, gid: int) -> str:
    """The ServiceAccount's name; a policy rebuilds it from the user and group that a pod claims."""
    return f"slurm-{job}-u{uid}-g{gid}"


def owner(namespace: str, name: str) -> Owner | None:
    """The job that an identity's object belongs to; None for any other object."""
    found = NAME.fullmatch(name)
    return Owner(namespace, int(found.group(2))) if found else None


def uid(name: str) -> int:
    """The user that an identity's object is for."""
    return int(name.split("-")[2][1:])


def base(name: str) -> str:
    """Name of the account that an identity's object is for."""
    return name[: -len(RUN)] if name.endswith(RUN) else name


def nodes(binding: Json) -> list[str]:
    """Nodes that may request the job's tokens: the nodes that it was given."""
    subjects = binding.get("subjects", [])
    return [subject["name"] for subject in subjects if subject.get("namespace") == NODES_NAMESPACE]


def groups(binding: Json) -> str:
    """The user's other groups, by a job's RoleBinding ...-run: numbers with dots between them; "" for none."""
    return str((binding["metadata"].get("annotations") or {}).get(OF_USER, ""))


def objects(holder: Owner, account: str, members: Sequence[str], others: Sequence[int] = ()) -> list[tuple[str, Json]]:
    """(resource, object) of the identity, in the order of creation: the right to run is last.

    Each job has its own bindings, since deleting one works at once. The API server accepts the token of a deleted
    ServiceAccount for some seconds more. By the label the next opener finds all objects with a job's number.

    `others` are the user's other groups. A policy reads no other object, but may ask what an account may do: one that
    never exists may use these groups.
    """
    listed = ".".join(map(str, others))
    use = {"apiGroups": [PREFIX], "resources": [GROUPS], "verbs": ["use"], "resourceNames": [listed]}
    asked = {"kind": "ServiceAccount", "name": f"{account}{GROUPS_SUFFIX}", "namespace": holder.namespace}
    metadata = {"name": account, "namespace": holder.namespace, "labels": {JOB_LABEL: str(holder.job)}}
    mint = {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"], "resourceNames": [account]}
    nodes_accounts = [{"kind": "ServiceAccount", "name": node, "namespace": NODES_NAMESPACE} for node in members]
    return [
        ("serviceaccounts", {"metadata": metadata, "automountServiceAccountToken": False}),
        ("roles", {"metadata": metadata, "rules": [mint, *([use] if others else [])]}),
        (
            "rolebindings",
            {
                "metadata": metadata,
                "roleRef": _role("Role", account),
                "subjects": [*nodes_accounts, *([asked] if others else [])],
            },
        ),
        (
            "rolebindings",
            {
                "metadata": {
                    **metadata,
                    "name": f"{account}{RUN}",
                    **({"annotations": {OF_USER: listed}} if others else {}),
                },
                "roleRef": _role("ClusterRole", JOB_ROLE),
                "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": holder.namespace}],
            },
        ),
    ]


def rights(holder: Owner, account: str) -> list[str]:
    """URL paths of the job's rights, in the order of deletion: a deleted binding works sooner than a deleted account.

    The account follows the role: the clean-up finds an unfinished identity by its account.
    """
    kinds = {"rolebindings": account + RUN, "roles": account, "serviceaccounts": account}
    return [path(holder.namespace, kind, name) for kind, name in kinds.items()]


def trace(holder: Owner, account: str) -> str:
    """URL path of the RoleBinding that is deleted last; it lists the job's nodes."""
    return path(holder.namespace, "rolebindings", account)


def path(namespace: str, resource: str, name: str = "") -> str:
    """URL path of an identity's object, or of its collection."""
    group = "/api/v1" if resource == "serviceaccounts" else "/apis/rbac.authorization.k8s.io/v1"
    return f"{group}/namespaces/{namespace}/{resource}" + (f"/{name}" if name else "")


def _role(kind: str, name: str) -> Json:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
