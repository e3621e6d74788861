# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Adoption of nodes that Kubernetes already uses: non-job pods are evicted first, then the node is closed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...core.consent import Consent
from ...core.converge import Step
from ...core.names import CLOSED, EFFECT, JOB_ACCOUNT, TAINT

Json = Mapping[str, Any]


@dataclass(frozen=True)
class NodeUse:
    """A node's use before adoption. A node that has a state of the gate keeps it."""

    gated: bool
    pods: tuple[str, ...] = ()
    """Non-job pods, as namespace/name."""
    cordoned: bool = False


@dataclass(frozen=True)
class ClusterUse:
    """Existing nodes of gated partitions."""

    nodes: Mapping[str, NodeUse]
    dropped: tuple[str, ...] = ()
    """Jobs, as namespace/account, in namespaces that no account has any more."""
    waiting: tuple[str, ...] = ()
    """Unscheduled non-job pods that tolerate closed nodes."""

    def lines(self) -> list[str]:
        """A line for each node, and for each pod that must go."""
        found = []
        for name, use in sorted(self.nodes.items()):
            found.append(f"{name} {TAINT}" if use.gated else f"{name} open")
            found += [f"{name} pod {pod}" for pod in use.pods]
        return [*found, *(f"waiting pod {pod}" for pod in self.waiting)]


def foreign(pods: Iterable[Json], spared: Iterable[str], spaces: Iterable[str]) -> tuple[str, ...]:
    """Pods that must leave a gated node: not ended, not of infrastructure, not of a job in `spaces`."""
    infra, gated = set(spared), set(spaces)
    return tuple(
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in pods
        if pod["metadata"]["namespace"] not in infra
        and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        and not (pod["metadata"]["namespace"] in gated and is_jobs(pod["spec"].get("serviceAccountName") or ""))
    )


def tolerates_closed(pod: Json) -> bool:
    """Whether the scheduler may put a pod on a closed node."""
    return any(
        toleration.get("effect", EFFECT) in (EFFECT, "")
        and toleration.get("key", "") in ("", TAINT)
        and (toleration.get("operator") == "Exists" or toleration.get("value") == CLOSED)
        for toleration in pod["spec"].get("tolerations") or []
    )


def is_jobs(account: str) -> bool:
    """Whether a ServiceAccount's name is that of a job."""
    return bool(re.fullmatch(JOB_ACCOUNT, account))


def faults(have: ClusterUse) -> list[str]:
    """Reasons against adoption that no consent removes."""
    found = [
        f"{job} belongs to a job, but drawbridge_slurm.accounts no longer names its namespace, so the gate could not "
        "close its nodes. End the job or wait for its end, then run again"
        for job in have.dropped
    ]
    for name, use in sorted(have.nodes.items()):
        if use.cordoned and not use.gated:
            found.append(
                f"{name} is cordoned, so pods of jobs would wait there permanently. Find the reason (kubespray leaves "
                f"nodes cordoned when an upgrade fails), then: kubectl uncordon {name}"
            )
    return found


def plan(have: ClusterUse, want: ClusterUse) -> list[Step[ClusterUse]]:
    """Evict non-job pods, then close nodes that have no state yet. Reads only names from `want`."""
    steps = [
        Step(
            f"evict {pod}, which has no node and tolerates closed ones",
            _without_waiting(pod),
            ("evict", "", pod),
            consent=_of_waiting(have.waiting),
        )
        for pod in have.waiting
    ]
    for name in want.nodes:
        use = have.nodes.get(name)
        if use is None:
            continue
        consent = _of_running(name, use.pods)
        steps += [
            Step(f"evict {pod} from {name}", _without(name, pod), ("evict", name, pod), consent=consent)
            for pod in use.pods
        ]
        if not use.gated:
            steps.append(Step(f"close {name}: {TAINT}={CLOSED}", _closed(name), ("close", name, "")))
    return steps


def _of_waiting(pods: tuple[str, ...]) -> Consent:
    return Consent(
        "evict",
        f"pod {_first(pods)} has no node yet and tolerates closed ones, so it may be scheduled there; delete it, "
        "list its namespace in drawbridge_kube.infra_namespaces, or set",
    )


def _of_running(name: str, pods: tuple[str, ...]) -> Consent:
    return Consent(
        "evict",
        f"{name} runs pod {_first(pods)}, and a gated node is Slurm's; move them away, list their namespaces in"
        " drawbridge_kube.infra_namespaces, or set",
    )


def _first(pods: tuple[str, ...]) -> str:
    return f"{''.join(pods[:1])} and {len(pods) - 1} more" if pods[1:] else "".join(pods)


def _without_waiting(pod: str) -> Any:
    return lambda state: replace(state, waiting=tuple(other for other in state.waiting if other != pod))


def _without(name: str, pod: str) -> Any:
    def becomes(state: ClusterUse) -> ClusterUse:
        use = state.nodes[name]
        left = tuple(other for other in use.pods if other != pod)
        return replace(state, nodes={**state.nodes, name: replace(use, pods=left)})

    return becomes


def _closed(name: str) -> Any:
    return lambda state: replace(state, nodes={**state.nodes, name: replace(state.nodes[name], gated=True)})
