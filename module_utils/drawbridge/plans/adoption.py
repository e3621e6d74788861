# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that Kubernetes has used so far become the gate's: others' pods go first, then the node is closed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..converge import Step
from ..gate_names import CLOSED, JOB_ACCOUNT, TAINT

Json = Mapping[str, Any]


@dataclass(frozen=True)
class NodeUse:
    """A node as the gate finds it. One that has any state of the gate is none of our business."""

    gated: bool
    pods: tuple[str, ...] = ()
    """Pods of others, as namespace/name; not looked for on gated nodes."""
    cordoned: bool = False


@dataclass(frozen=True)
class ClusterUse:
    """Nodes that are to be gated. One that is not there yet will be born closed."""

    nodes: Mapping[str, NodeUse]
    dropped: tuple[str, ...] = ()
    """Jobs, as namespace/account, in namespaces of jobs that are no account's any more."""

    def lines(self) -> list[str]:
        """A line a node, and one for each pod that is in the way."""
        found = []
        for name, use in sorted(self.nodes.items()):
            found.append(f"{name} {TAINT}" if use.gated else f"{name} open")
            found += [f"{name} pod {pod}" for pod in use.pods]
        return found


def foreign(pods: Iterable[Json], spared: Iterable[str], spaces: Iterable[str]) -> tuple[str, ...]:
    """Pods that may not stay on a gated node: those that still run, outside of infrastructure and of jobs' `spaces`."""
    infra, gated = set(spared), set(spaces)
    return tuple(
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        for pod in pods
        if pod["metadata"]["namespace"] not in infra
        and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        and not (pod["metadata"]["namespace"] in gated and is_jobs(pod["spec"].get("serviceAccountName") or ""))
    )


def is_jobs(account: str) -> bool:
    """Whether a ServiceAccount is called as a job's is."""
    return bool(re.fullmatch(JOB_ACCOUNT, account))


def faults(have: ClusterUse, evict: bool) -> list[str]:
    """Why nodes can't be taken over as they are."""
    found = [
        f"{job} is a job's, and drawbridge_slurm.accounts no longer names its namespace, so its nodes could not be "
        "taken back from it; end the job or wait for its end, then run again"
        for job in have.dropped
    ]
    for name, use in sorted(have.nodes.items()):
        if use.gated:
            continue
        if use.pods and not evict:
            more = f" and {len(use.pods) - 1} more" if use.pods[1:] else ""
            found.append(
                f"{name} runs pod {use.pods[0]}{more}, and a gated node is Slurm's; move them away, list their "
                "namespaces in drawbridge_kube.infra_namespaces, or set slurm_gate_evict_pods: true"
            )
        if use.cordoned:
            found.append(
                f"{name} is cordoned, so that pods of jobs would wait there for ever; find out who did it (kubespray "
                f"leaves nodes so when an upgrade fails), then: kubectl uncordon {name}"
            )
    return found


def plan(have: ClusterUse, want: ClusterUse) -> list[Step[ClusterUse]]:
    """Every node that has no state yet: its pods go, then it is closed. Reads `want` for names alone."""
    steps = []
    for name in want.nodes:
        use = have.nodes.get(name)
        if use is None or use.gated:
            continue
        steps += [Step(f"evict {pod} from {name}", _without(name, pod), ("evict", name, pod)) for pod in use.pods]
        steps.append(Step(f"close {name}: {TAINT}={CLOSED}", _closed(name), ("close", name, "")))
    return steps


def _without(name: str, pod: str) -> Any:
    def becomes(state: ClusterUse) -> ClusterUse:
        use = state.nodes[name]
        left = tuple(other for other in use.pods if other != pod)
        return replace(state, nodes={**state.nodes, name: replace(use, pods=left)})

    return becomes


def _closed(name: str) -> Any:
    return lambda state: replace(state, nodes={**state.nodes, name: replace(state.nodes[name], gated=True)})
