# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the intent: the objects that give a run its rights in Kubernetes, for an administrator to apply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.names import FOR_JOBS, GATED, INSTALLER, INSTALLER_NAMESPACE, INSTALLER_USER, PLATFORM
from ..kube.model import Kube
from ..kube.rights.rbac import Grant, Json, rules
from ..slurm.model import Slurm
from .gate_view import RBAC
from .installer_grants import ADMISSION, KUBE_SYSTEM, LIFECYCLE, SECRETS, grants

ROLE, ACT = "drawbridge-installer", "drawbridge-act-as-installer"
GROUP = {"kind": "Group", "apiGroup": RBAC, "name": INSTALLER}


def manifest(slurm: Slurm, kube: Kube) -> list[Json]:
    """Objects for an administrator to apply; namespaces come first."""
    needed = [grant for part in grants(slurm, kube).values() for grant in part]
    spaces = list(dict.fromkeys([INSTALLER_NAMESPACE, *(grant.namespace for grant in needed if grant.namespace)]))
    acts = [
        Grant("", "users", ("impersonate",), (INSTALLER_USER,)),
        Grant("", "groups", ("impersonate",), (PLATFORM, INSTALLER)),
    ]
    account = {"kind": "ServiceAccount", "namespace": INSTALLER_NAMESPACE, "name": "installer"}
    found = [_object("v1", "Namespace", space) for space in spaces if space != KUBE_SYSTEM]
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
    return [*found, *frames()]


def frames() -> list[Json]:
    """Policies with parameters. A user creates them only if he may read all objects of the parameter's kind.

    Here these are all ConfigMaps and all Secrets, which a run may not read. The policies have no rules: the run adds
    them, since the API server checks this right only when the parameter's kind changes. Their other fields have the
    values that the run writes, except `auditAnnotations`, which takes the place of rules. The binding is complete,
    because the API server checks the right at each write.
    """
    found = [
        _policy(LIFECYCLE, "ConfigMap", "nodes", ["CREATE", "DELETE"]),
        _policy(SECRETS, "Secret", "pods", ["CREATE"]),
    ]
    unlabelled = {"matchExpressions": [{"key": FOR_JOBS, "operator": "NotIn", "values": ["true"]}]}
    bound = {
        "policyName": SECRETS,
        "validationActions": ["Deny", "Audit"],
        "paramRef": {"parameterNotFoundAction": "Allow", "selector": unlabelled},
        "matchResources": {"namespaceSelector": {"matchLabels": {GATED: "true"}}},
    }
    return [*found, _object(f"{ADMISSION}/v1", "ValidatingAdmissionPolicyBinding", SECRETS, spec=bound)]


def _policy(name: str, kind: str, resource: str, operations: list[str]) -> Json:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": operations, "resources": [resource], "scope": "*"}
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": kind},
        # the API server's defaults are a part of the field
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "namespaceSelector": {},
            "objectSelector": {},
            "resourceRules": [rule],
        },
        "auditAnnotations": [{"key": "frame", "valueExpression": "null"}],
    }
    return _object(f"{ADMISSION}/v1", "ValidatingAdmissionPolicy", name, spec=spec)


def _object(version: str, kind: str, name: str, namespace: str = "", **content: Any) -> Json:
    metadata: Mapping[str, str] = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **content}


def _role(kind: str, name: str, within: list[Grant], namespace: str = "") -> Json:
    return _object(f"{RBAC}/v1", kind, name, namespace, rules=rules(within))


def _binding(kind: str, name: str, subjects: list[Json], namespace: str = "") -> Json:
    role = {"apiGroup": RBAC, "kind": kind, "name": name}
    return _object(f"{RBAC}/v1", f"{kind}Binding", name, namespace, roleRef=role, subjects=subjects)
