# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A job's identity in Kubernetes: one ServiceAccount whose name says job, uid and gid, and what it may do. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .gate_names import JOB_ROLE, NODES_NAMESPACE
from .states import Json, Owner

NAME = re.compile(r"slurm-[0-9]+-u[0-9]+-g[0-9]+")


def name(job: int, uid: int, gid: int) -> str:
    """The ServiceAccount's name; a policy rebuilds it from what a pod claims to run as."""
    return f"slurm-{job}-u{uid}-g{gid}"


def ids(account: str) -> tuple[int, int]:
    """Uid and gid that are in a ServiceAccount's name."""
    uid, gid = account.rsplit("-u", 1)[1].split("-g")
    return int(uid), int(gid)


def objects(owner: Owner, account: str, nodes: Sequence[str]) -> list[tuple[str, Json]]:
    """(resource, object) of the identity, in the order of creation: the right to run comes last.

    Rights hang on bindings of this one job, because a deleted binding acts at once, while the API server accepts the
    token of a deleted ServiceAccount for seconds more.
    """
    metadata = {"name": account, "namespace": owner.namespace}
    mint = {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"], "resourceNames": [account]}
    nodes_accounts = [{"kind": "ServiceAccount", "name": node, "namespace": NODES_NAMESPACE} for node in nodes]
    return [
        ("serviceaccounts", {"metadata": metadata, "automountServiceAccountToken": False}),
        ("roles", {"metadata": metadata, "rules": [mint]}),
        ("rolebindings", {"metadata": metadata, "roleRef": _role("Role", account), "subjects": nodes_accounts}),
        (
            "rolebindings",
            {
                "metadata": {**metadata, "name": f"{account}-run"},
                "roleRef": _role("ClusterRole", JOB_ROLE),
                "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": owner.namespace}],
            },
        ),
    ]


def path(namespace: str, resource: str, name: str = "") -> str:
    """URL path of an identity's object, or of its collection."""
    group = "/api/v1" if resource == "serviceaccounts" else "/apis/rbac.authorization.k8s.io/v1"
    return f"{group}/namespaces/{namespace}/{resource}" + (f"/{name}" if name else "")


def _role(kind: str, name: str) -> Json:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
