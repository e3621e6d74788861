# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes that Kubernetes has used so far become the gate's: others' pods go first, then the node is closed."""

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
    """A node as the gate finds it. The state of one that has any is none of our business."""

    gated: bool
    pods: tuple[str, ...] = ()
    """Pods of others, as namespace/name."""
    cordoned: bool = False


@dataclass(frozen=True)
class ClusterUse:
    """Nodes that are to be gated. One that is not there yet will be born closed."""

    nodes: Mapping[str, NodeUse]
    dropped: tuple[str, ...] = ()
    """Jobs, as namespace/account, in namespaces of jobs that are no account's any more."""
    waiting: tuple[str, ...] = ()
    """Pods of others that have no node yet and tolerate closed ones."""

    def lines(self) -> list[str]:
        """A line a node, and one for each pod that is in the way."""
        found = []
        for name, use in sorted(self.nodes.items()):
            found.append(f"{name} {TAINT}" if use.gated else f"{name} open")
            found += [f"{name} pod {pod}" for pod in use.pods]
        return [*found, *(f"waiting pod {pod}" for pod in self.waiting)]


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


def tolerates_closed(pod: Json) -> bool:
    """Whether the scheduler may put a pod on a closed node."""
    return any(
        toleration.get("effect", EFFECT) in (EFFECT, "")
        and toleration.get("key", "") in ("", TAINT)
        and (toleration.get("operator") == "Exists" or toleration.get("value") == CLOSED)
        for toleration in pod["spec"].get("tolerations") or []
    )


def is_jobs(account: str) -> bool:
    """Whether a ServiceAccount is called as a job's is."""
    return bool(re.fullmatch(JOB_ACCOUNT, account))


def faults(have: ClusterUse) -> list[str]:
    """Why nodes can't be taken over as they are, whatever is allowed."""
    found = [
        f"{job} is a job's, and drawbridge_slurm.accounts no longer names its namespace, so its nodes could not be "
        "taken back from it; end the job or wait for its end, then run again"
        for job in have.dropped
    ]
    for name, use in sorted(have.nodes.items()):
        if use.cordoned and not use.gated:
            found.append(
                f"{name} is cordoned, so that pods of jobs would wait there for ever; find out who did it (kubespray "
                f"leaves nodes so when an upgrade fails), then: kubectl uncordon {name}"
            )
    return found


def plan(have: ClusterUse, want: ClusterUse) -> list[Step[ClusterUse]]:
    """Others' pods go from every node, then one that has no state yet is closed. Reads `want` for names alone."""
    steps = [
        Step(
            f"evict {pod}, which waits and tolerates closed nodes",
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
        f"pod {_first(pods)} has no node yet and tolerates closed ones, so it may land on them at any moment; delete"
        " it, list its namespace in drawbridge_kube.infra_namespaces, or set",
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
