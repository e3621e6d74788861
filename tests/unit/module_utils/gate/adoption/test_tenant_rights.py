# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of Kubernetes' stock roles are those of release 1.36, shortened."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.tenant_rights import (
    binding_actors,
    cluster_wide,
    listed_roles,
    reaches_jobs,
)

NODES = {"kind": "Group", "name": "system:serviceaccounts:drawbridge-nodes"}
ACCOUNT = {"kind": "ServiceAccount", "name": "slurm-7-u2001-g3001"}
PEOPLE = [{"kind": "Group", "name": "researchers"}, {"kind": "User", "name": "eve"}]


def role(resources: list[str], verbs: list[str], name: str = "own") -> dict[str, Any]:
    rules = [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
        {"resources": resources, "verbs": verbs},
    ]
    return {"metadata": {"name": name, "namespace": "vision"}, "rules": rules}


def binding(name: str, to: str, kind: str = "ClusterRole", subjects: Any = PEOPLE) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "vision"}
    return {"metadata": metadata, "roleRef": {"kind": kind, "name": to}, "subjects": subjects}


@pytest.mark.parametrize(
    ("resources", "verbs", "right"),
    [
        (["serviceaccounts"], ["impersonate"], "impersonate serviceaccounts"),
        (["serviceaccounts"], ["impersonate:serviceaccount"], "impersonate:serviceaccount serviceaccounts"),
        (["jobs"], ["*"], "* jobs"),
        (["*"], ["get"], "get *"),
        (["pods/*"], ["create"], "create pods/*"),
        (["pods/eviction"], ["create"], "create pods/eviction"),
        (["serviceaccounts/token"], ["create"], "create serviceaccounts/token"),
        (["pods", "services"], ["get", "patch"], "patch pods"),
        (["clusterroles"], ["bind"], "bind clusterroles"),
        ([], ["*"], "* everything"),
        (["pods"], ["get", "delete"], ""),
        (["configmaps", "secrets"], ["get", "create", "update", "patch"], ""),
    ],
)
def test_rights_that_reach_jobs_of_others(resources: list[str], verbs: list[str], right: str) -> None:
    assert reaches_jobs(role(resources, verbs)) == right


def test_bindings_of_other_roles_than_the_listed_ones_are_named_with_what_to_bind() -> None:
    bindings = [
        binding("devs", "edit"),
        binding("viewers", "view"),
        binding("own", "own", "Role"),
        binding("drawbridge-node", "drawbridge-node-namespace", subjects=[NODES]),
        binding("slurm-7-u2001-g3001-run", "drawbridge-job", subjects=[{**ACCOUNT, "namespace": "vision"}]),
    ]
    (actor,) = binding_actors(bindings, [role(["pods"], ["get"])], ["view"])
    assert actor.name == "rolebinding/vision/devs"
    assert actor.sentence.startswith("RoleBinding vision/devs gives ClusterRole edit to Group researchers and 1 more, ")
    assert "bind ClusterRole drawbridge-tenant (or view) instead, then: kubectl delete rolebinding" in actor.sentence


@pytest.mark.parametrize(
    ("name", "role", "subjects"),
    [
        ("drawbridge-devs", "edit", PEOPLE),
        ("drawbridge-node", "edit", [NODES]),
        ("drawbridge-node", "drawbridge-node-namespace", [NODES, PEOPLE[1]]),
        ("drawbridge-opener", "drawbridge-opener-namespace", [NODES]),
        ("slurm-7-u2001-g3001-run", "edit", [{**ACCOUNT, "namespace": "vision"}]),
        ("slurm-7-u2001-g3001-run", "drawbridge-job", [{**ACCOUNT, "namespace": "speech"}]),
        ("slurm-7-u2001-g3001", "drawbridge-job", [{**ACCOUNT, "namespace": "vision"}]),
    ],
)
def test_a_name_of_the_gate_hides_no_binding(name: str, role: str, subjects: Any) -> None:
    (actor,) = binding_actors([binding(name, role, subjects=subjects)], [], ["view"])
    assert actor.name == f"rolebinding/vision/{name}"


@pytest.mark.parametrize("name", ["drawbridge-mine", "slurm-7-u2001-g3001"])
def test_a_name_of_the_gate_hides_no_role(name: str) -> None:
    (actor,) = binding_actors([], [role(["serviceaccounts/token"], ["create"], name)], [])
    assert actor.name == f"role/vision/{name}"


def test_a_role_that_tenants_may_bind_is_judged_too() -> None:
    roles = [role(["pods"], ["patch"], "ours"), role(["pods"], ["get"], "view"), role(["*"], ["*"], "admin")]
    (actor,) = listed_roles(roles, ["view", "ours"])
    assert actor.sentence.startswith("ClusterRole ours may patch pods, which reaches other users' jobs, and")


def test_a_role_of_the_namespace_is_named_by_what_it_may() -> None:
    rule = {"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]}
    name = "slurm-7-u2001-g3001"
    jobs = {"metadata": {"name": name, "namespace": "vision"}, "rules": [{**rule, "resourceNames": [name]}]}
    roles = [role(["pods"], ["patch"]), jobs]
    (actor,) = binding_actors([], roles, [])
    assert actor.name == "role/vision/own"
    assert "may patch pods, which reaches other users' jobs; take that rule out" in actor.sentence


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        ({"kind": "Group", "name": "ops"}, True),
        ({"kind": "ServiceAccount", "namespace": "argo", "name": "argo"}, True),
        ({"kind": "ServiceAccount", "namespace": "gpu-operator", "name": "gpu-operator"}, False),
        ({"kind": "Group", "name": "system:masters"}, False),
        ({"kind": "User", "name": "system:kube-controller-manager"}, False),
        ({"kind": "Group", "name": "kubeadm:cluster-admins"}, False),
        ({"kind": "Group", "name": "drawbridge:breakglass"}, False),
        ({"kind": "Group", "name": "drawbridge:platform-readers"}, True),
        ({"kind": "Group", "name": "system:authenticated"}, True),
        ({"kind": "Group", "name": "system:serviceaccounts"}, True),
        ({"kind": "Group", "name": "system:serviceaccounts:argo"}, True),
        ({"kind": "Group", "name": "system:serviceaccounts:gpu-operator"}, False),
        ({"kind": "User", "name": "system:serviceaccount:argo:argo"}, True),
        ({"kind": "User", "name": "system:anonymous"}, True),
    ],
)
def test_rights_in_all_namespaces_are_named_but_those_of_administrators(subject: dict[str, str], told: bool) -> None:
    found = cluster_wide([binding("b", "edit", subjects=[subject])], [role(["*"], ["*"], "edit")], ["gpu-operator"])
    assert bool(found) is told
    assert cluster_wide([binding("b", "view", subjects=[subject])], [role(["pods"], ["get"], "view")], []) == []
