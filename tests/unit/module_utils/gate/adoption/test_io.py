# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The adapter against a small API server of its own: a node, a pod with a budget, another controller that writes."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption import io as kube_cluster
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.io import KubeCluster
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.plan import (
    ClusterUse,
    NodeUse,
    plan,
)

CLOSED = {"key": "drawbridge.io/slurm", "value": "closed", "effect": "NoSchedule"}


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


class Cluster:
    """Nodes and a controller: a pod evicted from one node runs on another, unless a taint keeps it off.

    An evicted pod is listed so many times more. A pod comes onto the node `early` just before its first taint.
    """

    def __init__(
        self, *nodes: str, taint: Any = None, conflicts: int = 0, budget: int = 0, ends_after: int = 0
    ) -> None:
        self.taints = {name: [taint] if taint else [] for name in nodes or ["gpu01"]}
        self.pods, self.ending, self.early = [pod("web", "gpu01")], set[str](), ""
        self.conflicts, self.budget, self.ends_after = conflicts, budget, ends_after
        self.asked: list[str] = []

    def __call__(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        if method == "POST" and path.endswith("?dryRun=All"):
            return guarded(body)
        path, _, query = path.partition("?")
        self.asked.append(f"{method} {path}")
        name = path.rpartition("/")[2]
        if name == "eviction":
            return self.evict(path.split("/")[-2])
        if method == "PATCH":
            return self.patch(name, body["spec"]["taints"])
        if path == "/api/v1/pods":
            here = [it for it in self.pods if "phase" in query or query.endswith(it["spec"].get("nodeName", "none"))]
            self.ends_after -= bool(self.ending)
            if self.ends_after <= 0:
                self.pods = [it for it in self.pods if it["metadata"]["name"] not in self.ending]
            return 200, {"kind": "PodList", "items": here or None}
        if name == "nodes":
            infra = {"metadata": {"name": "infra1"}, "spec": {}}
            return 200, {"kind": "NodeList", "items": [*map(self.node, self.taints), infra]}
        return (200, self.node(name)) if name in self.taints else (404, {})

    def node(self, name: str) -> dict[str, Any]:
        return {"metadata": {"name": name, "resourceVersion": "7"}, "spec": {"taints": self.taints[name]}}

    def evict(self, name: str) -> tuple[int, dict[str, Any]]:
        self.budget -= 1
        if self.budget >= 0:
            return 429, {"message": "the budget needs 1 healthy pod"}
        self.ending.add(name)
        if free := [node for node, taints in self.taints.items() if not taints]:
            self.pods.append(pod(f"web-{free[0]}", free[0]))
        if not self.ends_after:
            self.pods = [it for it in self.pods if it["metadata"]["name"] != name]
        return 201, {}

    def patch(self, name: str, taints: list[dict[str, str]]) -> tuple[int, dict[str, Any]]:
        self.conflicts -= 1
        if self.conflicts >= 0:
            return 409, {"message": "modified"}
        if name == self.early and not self.taints[name]:
            self.pods.append(pod("early", name))
        self.taints[name] = taints
        return 200, {}

    def keys(self) -> list[str]:
        return [taint["key"] for taints in self.taints.values() for taint in taints]


def adopted(server: Cluster, timeout_s: float = 5) -> Outcome:
    want = ClusterUse({name: NodeUse(True) for name in server.taints})
    return converge(KubeCluster(server, [*server.taints], [], [], timeout_s), plan, want, options={"evict": True})


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube_cluster, "PAUSE_S", 0.0)


OTHER = {"key": "other", "effect": "NoSchedule"}


def test_new_pods_are_kept_off_before_old_ones_go() -> None:
    server = Cluster(taint=OTHER, conflicts=1, budget=2, ends_after=1)
    outcome = adopted(server)
    assert not outcome.error
    assert outcome.steps == ["evict shop/web from gpu01", "close gpu01: drawbridge.io/slurm=closed"]
    assert server.keys() == ["other", "drawbridge.io/slurm"]
    first_write = server.asked.index("PATCH /api/v1/nodes/gpu01")
    assert first_write < server.asked.index("POST /api/v1/namespaces/shop/pods/web/eviction")


def test_gated_nodes_cost_one_look_at_pods() -> None:
    server = Cluster(taint=CLOSED)
    server.pods = []
    assert adopted(server).changed is False
    assert server.asked == ["GET /api/v1/nodes", "GET /api/v1/pods", "GET /api/v1/namespaces"]


def test_a_pod_that_has_come_onto_a_gated_node_goes() -> None:
    server = Cluster(taint=CLOSED)
    outcome = adopted(server)
    assert (outcome.error, outcome.steps) == ("", ["evict shop/web from gpu01"])
    assert server.keys() == ["drawbridge.io/slurm"], "its state is not touched"


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
    server = Cluster(taint=CLOSED)
    server.pods = [pod("wait", tolerations=[toleration])]
    steps = ["evict shop/wait, which has no node and tolerates closed ones"]
    assert adopted(server).steps == (steps if lands else [])


def test_no_node_is_closed_before_policies_keep_new_pods_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.guarded", lambda body: (201, {"metadata": {}}))
    server = Cluster()
    error = adopted(server, 0.05).error
    assert "drawbridge-elsewhere is not in force (no refusal), so nodes are not closed" in error
    assert not any(asked.startswith("PATCH") for asked in server.asked)


@pytest.mark.parametrize(
    ("obstacle", "told"),
    [({"ends_after": 10**9}, "still runs pod shop/web"), ({"budget": 10**9}, "the budget needs 1 healthy pod")],
)
def test_a_pod_that_does_not_end_or_go_keeps_the_node_open(obstacle: dict[str, int], told: str) -> None:
    server = Cluster(taint=OTHER, **obstacle)
    assert told in adopted(server, 0.05).error
    assert server.keys() == ["other", "drawbridge.io/adopting"]


def test_a_kind_that_the_cluster_does_not_know_has_no_items() -> None:
    assert KubeCluster(Cluster(), [], [], [], 5).items("/apis/nvidia.com/v1/clusterpolicies") == []


@pytest.mark.parametrize("early", ["", "gpu02"])
def test_what_leaves_one_node_does_not_land_on_the_next(early: str) -> None:
    server = Cluster("gpu01", "gpu02")
    server.early = early
    assert not adopted(server).error and not server.pods
    assert server.keys() == ["drawbridge.io/slurm"] * 2


def test_jobs_are_looked_for_where_their_account_is_gone() -> None:
    def ask(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        names = {
            "/api/v1/nodes": [],
            "/api/v1/namespaces?labelSelector=drawbridge.io/gated%3Dtrue": ["vision", "speech"],
            "/api/v1/namespaces/speech/serviceaccounts": ["default", "slurm-exporter", "slurm-7-u2001-g3001"],
        }.get(path, [])
        return 200, {"items": [{"metadata": {"name": name, "namespace": "speech"}} for name in names]}

    assert KubeCluster(ask, [], [], ["vision"], 5).read().dropped == ("speech/slurm-7-u2001-g3001",)
