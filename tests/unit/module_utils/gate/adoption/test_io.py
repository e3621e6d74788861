# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The adapter against a small API server of its own: a node, a pod with a budget, somebody else who writes."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption import io as kube_cluster
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.io import KubeCluster
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.plan import (
    ClusterUse,
    NodeUse,
    plan,
)

WANT = ClusterUse({"gpu01": NodeUse(True)})
EVICT = {"evict": True}


def pod(name: str, node: str = "", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "shop", "name": name},
        "spec": {**({"nodeName": node} if node else {}), **spec},
        "status": {"phase": "Running" if node else "Pending"},
    }


def guarded(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The policies are in force."""
    assert body["spec"]["tolerations"] == [{"operator": "Exists"}]
    return 422, {"message": "ValidatingAdmissionPolicy 'drawbridge-elsewhere' denied request"}


class Server:
    def __init__(self, conflicts: int = 0, budget: int = 0, ends_after: int = 1) -> None:
        self.taints: list[dict[str, str]] = [{"key": "other", "effect": "NoSchedule"}]
        self.pods = [pod("web", "gpu01")]
        self.conflicts, self.budget, self.ends_after = conflicts, budget, ends_after
        self.evicted = False
        self.asked: list[str] = []

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        self.asked.append(f"{method} {path.partition('?')[0]}")
        node = {"metadata": {"name": "gpu01", "resourceVersion": "7"}, "spec": {"taints": self.taints}}
        if path == "/api/v1/nodes":
            return 200, {"kind": "NodeList", "items": [node, {"metadata": {"name": "infra1"}, "spec": {}}]}
        if method == "POST" and path.endswith("?dryRun=All"):
            return guarded(body)
        if path.endswith("/eviction"):
            self.budget -= 1
            if self.budget >= 0:
                return 429, {"message": "the budget needs 1 healthy pod"}
            self.evicted = True
            return 201, {}
        if method == "PATCH":
            self.conflicts -= 1
            if self.conflicts >= 0:
                return 409, {"message": "modified"}
            self.taints = body["spec"]["taints"]
            return 200, {}
        if path.startswith("/api/v1/pods"):
            self.ends_after -= self.evicted
            return 200, {"kind": "PodList", "items": self.pods if self.ends_after >= 0 else None}
        return (200, node) if path == "/api/v1/nodes/gpu01" else (404, {})


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube_cluster, "PAUSE_S", 0.0)


def test_new_pods_are_kept_off_before_old_ones_go() -> None:
    server = Server(conflicts=1, budget=2)
    outcome = converge(KubeCluster(server, ["gpu01"], ["kube-system"], [], 5), plan, WANT, options=EVICT)
    assert not outcome.error
    assert outcome.steps == ["evict shop/web from gpu01", "close gpu01: drawbridge.io/slurm=closed"]
    assert [taint["key"] for taint in server.taints] == ["other", "drawbridge.io/slurm"]
    first_write = server.asked.index("PATCH /api/v1/nodes/gpu01")
    assert first_write < server.asked.index("POST /api/v1/namespaces/shop/pods/web/eviction")


def test_gated_nodes_cost_one_look_at_pods() -> None:
    server = Server()
    server.pods = []
    server.taints = [{"key": "drawbridge.io/slurm", "value": "closed", "effect": "NoSchedule"}]
    assert converge(KubeCluster(server, ["gpu01"], [], [], 5), plan, WANT, options=EVICT).changed is False
    assert server.asked == ["GET /api/v1/nodes", "GET /api/v1/pods", "GET /api/v1/namespaces"]


def test_a_pod_that_has_come_onto_a_gated_node_goes() -> None:
    server = Server(ends_after=0)
    server.taints = [{"key": "drawbridge.io/slurm", "value": "closed", "effect": "NoSchedule"}]
    outcome = converge(KubeCluster(server, ["gpu01"], [], [], 5), plan, WANT, options=EVICT)
    assert (outcome.error, outcome.steps) == ("", ["evict shop/web from gpu01"])
    assert [taint["key"] for taint in server.taints] == ["drawbridge.io/slurm"], "its state is not touched"


@pytest.mark.parametrize(
    ("toleration", "lands"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "drawbridge.io/slurm", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": "drawbridge.io/slurm", "value": "closed"}, True),
        ({"key": "drawbridge.io/slurm", "value": "vision.1"}, False),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "nvidia.com/gpu", "operator": "Exists"}, False),
    ],
)
def test_a_pod_that_waits_and_may_land_on_a_closed_node_goes(toleration: dict[str, str], lands: bool) -> None:
    server = Server()
    server.taints = [{"key": "drawbridge.io/slurm", "value": "closed", "effect": "NoSchedule"}]
    server.pods = [pod("wait", tolerations=[toleration])]
    outcome = converge(KubeCluster(server, ["gpu01"], [], [], 5), plan, WANT, options=EVICT)
    assert outcome.steps == (["evict shop/wait, which has no node and tolerates closed ones"] if lands else [])


def test_no_node_is_closed_before_policies_keep_new_pods_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.guarded", lambda body: (201, {"metadata": {}}))
    server = Server()
    outcome = converge(KubeCluster(server, ["gpu01"], [], [], 0.05), plan, WANT, options=EVICT)
    assert "drawbridge-elsewhere is not in force (no refusal), so nodes are not closed" in outcome.error
    assert not any(asked.startswith("PATCH") for asked in server.asked)


def test_a_pod_that_does_not_end_keeps_the_node_open() -> None:
    server = Server(ends_after=10**9)
    outcome = converge(KubeCluster(server, ["gpu01"], [], [], 0.05), plan, WANT, options=EVICT)
    assert "still runs pod shop/web" in outcome.error
    assert [taint["key"] for taint in server.taints] == ["other", "drawbridge.io/adopting"]


def test_a_budget_that_never_allows_it_is_told() -> None:
    outcome = converge(KubeCluster(Server(budget=10**9), ["gpu01"], [], [], 0.05), plan, WANT, options=EVICT)
    assert "the budget needs 1 healthy pod" in outcome.error


def test_a_kind_that_the_cluster_does_not_know_has_no_items() -> None:
    assert KubeCluster(Server(), [], [], [], 5).items("/apis/nvidia.com/v1/clusterpolicies") == []


class Cluster:
    """Two nodes and a controller: what is evicted from one runs on the other, unless a taint keeps it off."""

    def __init__(self) -> None:
        self.taints: dict[str, list[dict[str, str]]] = {"gpu01": [], "gpu02": []}
        self.on = {"web-1": "gpu01"}

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        if method == "POST" and path.endswith("?dryRun=All"):
            return guarded(body)
        path, _, query = path.partition("?")
        if path.endswith("/eviction"):
            self.on.pop(path.split("/")[-2])
            if free := [name for name, taints in self.taints.items() if not taints]:
                self.on[f"web-{free[0]}"] = free[0]
            return 201, {}
        name = path.rpartition("/")[2]
        if method == "PATCH":
            self.taints[name] = body["spec"]["taints"]
            return 200, {}
        if path == "/api/v1/pods":
            here = [it for it in self.on.items() if "phase" in query or query.endswith(it[1])]
            return 200, {"items": [pod(name, node) for name, node in here]}
        if name in self.taints:
            return 200, self.node(name)
        return (200, {"items": [self.node(name) for name in self.taints]}) if name == "nodes" else (404, {})

    def node(self, name: str) -> dict[str, Any]:
        return {"metadata": {"name": name, "resourceVersion": "7"}, "spec": {"taints": self.taints[name]}}


def test_what_leaves_one_node_does_not_land_on_the_next() -> None:
    server, names = Cluster(), ["gpu01", "gpu02"]
    want = ClusterUse({name: NodeUse(True) for name in names})
    outcome = converge(KubeCluster(server, names, [], [], 5), plan, want, options=EVICT)
    assert not outcome.error and not server.on
    assert [taint["key"] for taints in server.taints.values() for taint in taints] == ["drawbridge.io/slurm"] * 2


def test_a_pod_that_came_before_the_taint_goes_too() -> None:
    class Slow(Cluster):
        def __call__(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
            answer = super().__call__(method, path, body)
            if method == "PATCH" and "gpu02" in path and body["spec"]["taints"][0]["key"] == "drawbridge.io/adopting":
                self.on["early"] = "gpu02"
            return answer

    server, names = Slow(), ["gpu01", "gpu02"]
    want = ClusterUse({name: NodeUse(True) for name in names})
    assert not converge(KubeCluster(server, names, [], [], 5), plan, want, options=EVICT).error
    assert not server.on


def test_jobs_are_looked_for_where_their_account_is_gone() -> None:
    def ask(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        names = {
            "/api/v1/nodes": [],
            "/api/v1/namespaces?labelSelector=drawbridge.io/gated%3Dtrue": ["vision", "speech"],
            "/api/v1/namespaces/speech/serviceaccounts": ["default", "slurm-exporter", "slurm-7-u2001-g3001"],
        }.get(path, [])
        return 200, {"items": [{"metadata": {"name": name, "namespace": "speech"}} for name in names]}

    assert KubeCluster(ask, [], [], ["vision"], 5).read().dropped == ("speech/slurm-7-u2001-g3001",)
