# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.action.gate_adoption import adopt
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.kube_cluster import KubeCluster

NODE = {"metadata": {"name": "gpu01", "resourceVersion": "1"}, "spec": {}}
KURED = {"metadata": {"name": "kured", "namespace": "kube-system"}, "spec": {"template": {"spec": {}}}}
LISTS = {
    "/api/v1/nodes": ("NodeList", [NODE]),
    "/apis/apps/v1/daemonsets": ("DaemonSetList", [KURED]),
    "/apis/nvidia.com/v1/clusterpolicies": ("ClusterPolicyList", [{"metadata": {"name": "cluster-policy"}}]),
}


def ask(method: str, path: str, _body: Any) -> tuple[int, dict[str, Any]]:
    assert method == "GET", "nothing is written"
    kind, items = LISTS.get(path, ("List", []))
    return 200, {"kind": kind, "items": items}


def adopted(*accepted: str) -> dict[str, Any]:
    cluster = KubeCluster(ask, ["gpu01"], ["kube-system"], [], 5)
    args = {"nodes": ["gpu01"], "infra_namespaces": ["kube-system"], "evict": False, "accepted": list(accepted)}
    return adopt(cluster, args, check=True)


def test_fighters_are_refused_together_each_with_the_line_that_accepts_it() -> None:
    result = adopted("draino")
    assert result["failed"] and not result["changed"]
    kured, operator = result["faults"]
    assert kured.startswith("DaemonSet kube-system/kured drains and reboots nodes")
    assert kured.endswith("or set slurm_gate_accepted: ['draino', 'kured']")
    assert operator.startswith("ClusterPolicy cluster-policy upgrades GPU drivers")


def test_accepted_fighters_stay_and_the_run_goes_on() -> None:
    result = adopted("kured", "gpu-operator")
    assert not result["failed"]
    assert result["steps"] == ["close gpu01: drawbridge.io/slurm=closed"]
    assert "kube-system/kured does not tolerate drawbridge.io/slurm" in result["warnings"][0]
