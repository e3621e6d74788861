# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.gate_adoption import adopt
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.io import KubeCluster

NODE = {"metadata": {"name": "gpu01", "resourceVersion": "1"}, "spec": {}}
KURED = {"metadata": {"name": "kured", "namespace": "kube-system"}, "spec": {"template": {"spec": {}}}}
LISTS = {
    "/api/v1/nodes": ("NodeList", [NODE]),
    "/apis/apps/v1/daemonsets": ("DaemonSetList", [KURED]),
    "/apis/nvidia.com/v1/clusterpolicies": ("ClusterPolicyList", [{"metadata": {"name": "cluster-policy"}}]),
}


RBAC = "/apis/rbac.authorization.k8s.io/v1"
EDIT = {
    "metadata": {"name": "devs", "namespace": "vision"},
    "roleRef": {"kind": "ClusterRole", "name": "edit"},
    "subjects": [{"kind": "Group", "name": "researchers"}],
}
EVERYWHERE = {**EDIT, "metadata": {"name": "ops"}}
STOCK = {"metadata": {"name": "edit"}, "rules": [{"resources": ["serviceaccounts"], "verbs": ["impersonate"]}]}
TENANTS = {
    f"{RBAC}/namespaces/vision/rolebindings": ("RoleBindingList", [EDIT]),
    f"{RBAC}/clusterrolebindings": ("ClusterRoleBindingList", [EVERYWHERE]),
    f"{RBAC}/clusterroles": ("ClusterRoleList", [STOCK]),
}


def ask(method: str, path: str, _body: Any) -> tuple[int, dict[str, Any]]:
    assert method == "GET", "nothing is written"
    kind, items = LISTS.get(path, ("List", []))
    return 200, {"kind": kind, "items": items}


def adopted(*accepted: str, look: bool = False) -> dict[str, Any]:
    cluster = KubeCluster(ask, ["gpu01"], ["kube-system"], [], 5)
    args = {
        "nodes": ["gpu01"],
        "infra_namespaces": ["kube-system"],
        "job_namespaces": ["vision"],
        "tenant_roles": ["view", "drawbridge-tenant"],
        "evict": False,
        "accepted": list(accepted),
        "variables": {"evict": "site_evicts", "accepted": "site_accepts"},
        "adopt": not look,
    }
    return adopt(cluster, args, check=not look)


def test_fighters_are_refused_together_each_with_the_line_that_accepts_it() -> None:
    result = adopted("draino")
    assert result["failed"] and not result["changed"]
    kured, operator = result["faults"]
    assert kured.startswith("DaemonSet kube-system/kured drains and reboots nodes")
    assert kured.endswith("or set site_accepts: ['draino', 'kured']")
    assert operator.startswith("ClusterPolicy cluster-policy upgrades GPU drivers")


def test_accepted_fighters_stay_and_the_run_goes_on() -> None:
    result = adopted("kured", "gpu-operator")
    assert not result["failed"]
    assert result["steps"] == ["close gpu01: drawbridge.io/slurm=closed"]
    assert "kube-system/kured does not tolerate drawbridge.io/slurm" in result["warnings"][0]


def test_bindings_of_tenants_that_reach_jobs_are_refused_with_what_to_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.LISTS", TENANTS | {"/api/v1/nodes": LISTS["/api/v1/nodes"]})
    (fault,) = adopted()["faults"]
    assert fault.startswith("RoleBinding vision/devs gives ClusterRole edit to Group researchers")
    assert (
        "bind ClusterRole drawbridge-tenant (or view) instead, then: kubectl delete rolebinding -n vision devs" in fault
    )
    assert fault.endswith("or set site_accepts: ['rolebinding/vision/devs']")
    result = adopted("rolebinding/vision/devs", look=True)
    assert (result["changed"], result["steps"]) == (False, []), "it only looks, though a node is there to be closed"
    (warning,) = result["warnings"]
    assert warning.startswith(
        "ClusterRoleBinding ops lets Group researchers impersonate serviceaccounts in every namespace"
    )
