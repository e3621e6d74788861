# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Input and output of adoption, as the installer: nodes, pods, evictions, the first taint."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from ...core.api.kubeconfig import Ask, Json
from ...core.converge import DeviceError, Step
from ...core.names import (
    ADOPTING,
    CLOSED,
    EFFECT,
    GATE_NAMESPACE,
    GATED,
    INSTALLER_NAMESPACE,
    NODES_NAMESPACE,
    TAINT,
)
from .plan import ClusterUse, NodeUse, foreign, is_jobs, tolerates_closed

PAUSE_S = 1.0
RESOURCES = (
    "/apis/nvidia.com/v1/clusterpolicies",
    "/apis/mellanox.com/v1alpha1/nicclusterpolicies",
    "/apis/sriovnetwork.openshift.io/v1/sriovoperatorconfigs",
    "/apis/amd.com/v1alpha1/deviceconfigs",
)
"""Custom resources with operators' settings."""
GUARD = "drawbridge-elsewhere"
TRIAL_PLACE = f"/api/v1/namespaces/{INSTALLER_NAMESPACE}/pods"
TRIAL: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "drawbridge-trial"},
    "spec": {"containers": [{"name": "x", "image": "x"}], "tolerations": [{"operator": "Exists"}]},
}
"""A pod that the policy must refuse, as a dry run. The installer may create pods in no other namespace."""


class KubeCluster:
    """Nodes of gated partitions, and their pods."""

    name = "cluster"

    def __init__(
        self, ask: Ask, nodes: Iterable[str], infra: Iterable[str], spaces: Iterable[str], timeout_s: float
    ) -> None:
        """`spaces`: namespaces of jobs. `timeout_s` limits all waits together."""
        self._ask, self._names, self._spaces = ask, tuple(nodes), frozenset(spaces)
        self._spared = (*infra, GATE_NAMESPACE, NODES_NAMESPACE)
        self._deadline = time.monotonic() + timeout_s
        self.found: list[Json] = []
        """Node objects of the last read."""

    def read(self) -> ClusterUse:
        """Nodes in one list, pods in another; jobs only in namespaces that lost their account."""
        names = set(self._names)
        self.found = [node for node in self.items("/api/v1/nodes") if node["metadata"]["name"] in names]
        elsewhere = [f"metadata.namespace!={space}" for space in self._spared]
        chosen = ",".join([*elsewhere, "status.phase!=Succeeded", "status.phase!=Failed"])
        pods = self.items(f"/api/v1/pods?fieldSelector={quote(chosen)}")
        unbound = [pod for pod in pods if not pod["spec"].get("nodeName") and tolerates_closed(pod)]
        on: dict[str, list[Json]] = {}
        for pod in pods:
            on.setdefault(pod["spec"].get("nodeName") or "", []).append(pod)
        nodes = {name: self._use(node, on.get(name, [])) for node in self.found for name in [node["metadata"]["name"]]}
        waiting = foreign(unbound, self._spared, self._spaces)
        return ClusterUse(nodes, tuple(self._dropped()), waiting)

    def apply(self, steps: Sequence[Step[ClusterUse]]) -> None:
        """Keep new pods off, evict, wait until no non-job pod runs, then close each node with one write."""
        self._guarded()
        evicted = {pod for verb, _unused, pod in (step.payload for step in steps) if verb == "evict"}
        # all nodes first, or an evicted pod is scheduled to the next node
        for node in dict.fromkeys(step.payload[1] for step in steps if evicted and step.payload[0] == "close"):
            self._taint(node, ADOPTING)
        for step in steps:
            verb, node, pod = step.payload
            if verb == "evict":
                self._evict(pod)
            else:
                while left := self._foreign(node):
                    for late in set(left) - evicted if evicted else ():
                        self._evict(late)
                        evicted.add(late)
                    self._pause(f"{node} still runs pod {left[0]}")
                self._taint(node, TAINT)
        for pod in sorted(evicted):
            while self._lives(pod):
                self._pause(f"pod {pod} does not end")

    def _lives(self, pod: str) -> bool:
        namespace, name = pod.split("/")
        status, answer = self._ask("GET", f"/api/v1/namespaces/{namespace}/pods/{name}", None)
        return status < 300 and (answer.get("status") or {}).get("phase") not in ("Succeeded", "Failed")

    def items(self, path: str) -> list[Json]:
        """Objects of a list; none if the cluster has no such kind."""
        status, answer = self._ask("GET", path, None)
        if status == 404:
            return []
        if status >= 300:
            raise DeviceError(f"{path} can't be listed: {answer.get('message', status)}")
        kind = answer.get("kind", "").removesuffix("List")
        return [{"kind": kind, **item} for item in answer.get("items") or []]

    def _guarded(self) -> None:
        """Wait until admission policies keep new pods away: pods that exist before may tolerate every taint."""
        while True:
            status, answer = self._ask("POST", f"{TRIAL_PLACE}?dryRun=All", TRIAL)
            if GUARD in str(answer.get("message", "")):
                return
            said = answer.get("message", status) if status >= 300 else "no refusal"
            reason = f"the admission policy {GUARD} is not in force ({said}), so nodes are not closed"
            self._pause(f"{reason}; let role slurm_gate apply its policies")

    def _use(self, node: Json, pods: Iterable[Json]) -> NodeUse:
        spec = node.get("spec") or {}
        gated = any(taint["key"] == TAINT for taint in spec.get("taints") or [])
        return NodeUse(gated, foreign(pods, self._spared, self._spaces), bool(spec.get("unschedulable")))

    def _foreign(self, node: str) -> tuple[str, ...]:
        pods = self.items(f"/api/v1/pods?fieldSelector={quote(f'spec.nodeName={node}')}")
        return foreign(pods, self._spared, self._spaces)

    def _dropped(self) -> list[str]:
        """Jobs in gated namespaces that no account has any more."""
        gated = self.items(f"/api/v1/namespaces?labelSelector={quote(f'{GATED}=true')}")
        spaces = {space["metadata"]["name"] for space in gated} - self._spaces
        accounts = (it for space in sorted(spaces) for it in self.items(f"/api/v1/namespaces/{space}/serviceaccounts"))
        names = ((it["metadata"]["namespace"], it["metadata"]["name"]) for it in accounts)
        return [f"{space}/{name}" for space, name in names if is_jobs(name)]

    def _evict(self, pod: str) -> None:
        """Evict a pod as kubectl drain does: wait for its disruption budget."""
        namespace, name = pod.split("/")
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
        while True:
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
            status, answer = self._ask("POST", path, body)
            if status < 300 or status == 404:
                return
            if status != 429:
                raise DeviceError(f"pod {pod} can't be evicted: {answer.get('message', status)}")
            self._pause(f"pod {pod} can't be evicted: {answer.get('message', status)}")

    def _taint(self, node: str, key: str) -> None:
        """Give the node one of the gate's taints instead of the other; a conflicting write is not overwritten."""
        path = f"/api/v1/nodes/{node}"
        while True:
            _unused, found = self._ask("GET", path, None)
            taints = [taint for taint in found["spec"].get("taints") or [] if taint["key"] not in (ADOPTING, TAINT)]
            taints.append({"key": key, "value": CLOSED if key == TAINT else "true", "effect": EFFECT})
            body = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "spec": {"taints": taints}}
            status, answer = self._ask("PATCH", path, body)
            if status < 300:
                return
            if status != 409:
                raise DeviceError(f"{node} can't be tainted: {answer.get('message', status)}")
            self._pause(f"another client keeps writing {node}")

    def _pause(self, trouble: str) -> None:
        if time.monotonic() + PAUSE_S >= self._deadline:
            raise DeviceError(trouble)
        time.sleep(PAUSE_S)
