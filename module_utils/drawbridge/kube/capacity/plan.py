# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Where pods live that are no job's, once the nodes of jobs are closed: who has a home, who has none, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.names import TAINT

Amounts = Mapping[str, float]
Json = Mapping[str, Any]
KEEPS_OUT = ("NoSchedule", "NoExecute")


@dataclass(frozen=True)
class Pod:
    """A pod as the scheduler sees it. `node` is empty while it waits for one."""

    name: str
    node: str
    needs: Amounts
    tolerations: Sequence[Json] = ()
    selector: Mapping[str, str] = field(default_factory=dict)
    terms: Sequence[Json] = ()
    """Node affinity that is required: one of them must fit."""
    stays: bool = False
    """A DaemonSet's or the node's own: it goes nowhere else."""


@dataclass
class Node:
    """A node, and what is left of it."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Json]
    free: dict[str, float]
    ready: bool = True
    cordoned: bool = False


def faults(nodes: Sequence[Node], pods: Sequence[Pod], infra: Iterable[str], gated: Iterable[str]) -> list[str]:
    """What is wrong with the nodes that are never gated: which are not there, and which pods they have no room for."""
    closed = set(gated)
    found = [f"drawbridge_kube.infra names {name}, but {why}" for name in infra if (why := _unfit(name, nodes))]
    homes = [node for node in nodes if node.name not in closed and not _unfit(node.name, [node])]
    lost = [node for node in nodes if node.name in closed]
    movers = [pod for pod in pods if _must_move(pod, lost)]
    for pod in sorted(movers, key=lambda pod: [-pod.needs.get(what, 0) for what in ("memory", "cpu")]):
        refusals = [_refusal(pod, home) for home in homes]
        if "" in refusals:
            _take(pod, homes[refusals.index("")])
        else:
            why = "; ".join(refusals) or "there is no ungated node that is Ready"
            found.append(
                f"pod {pod.name} has no home when {_where(pod)} is closed: {why}; add nodes to drawbridge_kube.infra, "
                "or make room on them"
            )
    return found


def _unfit(name: str, nodes: Sequence[Node]) -> str:
    node = next((node for node in nodes if node.name == name), None)
    if node is None:
        return "the cluster has no such node; join it, or take it out"
    if any(taint["key"] == TAINT for taint in node.taints):
        return f"it carries the taint {TAINT}; take the taint off, or {name} out"
    if not node.ready:
        return "it is not Ready; look at its kubelet, or take it out"
    return f"it is cordoned; kubectl uncordon {name}, or take it out" if node.cordoned else ""


def _must_move(pod: Pod, lost: Sequence[Node]) -> bool:
    """It runs on a node of jobs, or it could if that were open; what waits for other things is none of our business."""
    if pod.stays or any(_matches(toleration, {"key": TAINT}) for toleration in pod.tolerations):
        return False
    if pod.node:
        return any(node.name == pod.node for node in lost)
    return any(not _refusal(pod, node, open_too=True) for node in lost)


def _where(pod: Pod) -> str:
    return pod.node or "every node of jobs"


def _refusal(pod: Pod, node: Node, open_too: bool = False) -> str:
    """Why a node can't take a pod; empty when it can."""
    for taint in node.taints:
        hard = taint.get("effect") in KEEPS_OUT and not (open_too and taint["key"] == TAINT)
        if hard and not any(_matches(toleration, taint) for toleration in pod.tolerations):
            return f"{node.name} has the taint {taint['key']}"
    if any(node.labels.get(key) != value for key, value in pod.selector.items()):
        return f"{node.name} is not what its nodeSelector asks for"
    if pod.terms and not any(_fits(term, node) for term in pod.terms):
        return f"{node.name} is not what its node affinity asks for"
    short = [what for what, amount in pod.needs.items() if amount > node.free.get(what, 0)]
    return f"{node.name} has too little {' and '.join(sorted(short))} left" if short else ""


def _take(pod: Pod, node: Node) -> None:
    for what, amount in pod.needs.items():
        node.free[what] = node.free.get(what, 0) - amount


def _matches(toleration: Json, taint: Json) -> bool:
    """Whether a toleration covers a taint; for a taint without value, any value of it."""
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("effect") and "effect" in taint and toleration["effect"] != taint["effect"]:
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")


def _fits(term: Json, node: Node) -> bool:
    fields = {"metadata.name": node.name}
    return all(_holds(rule, node.labels) for rule in term.get("matchExpressions") or []) and all(
        _holds(rule, fields) for rule in term.get("matchFields") or []
    )


def _holds(rule: Json, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(rule["key"]), rule.get("values") or []
    if rule["operator"] in ("In", "NotIn"):
        return (value in values) == (rule["operator"] == "In")
    if rule["operator"] in ("Exists", "DoesNotExist"):
        return (value is not None) == (rule["operator"] == "Exists")
    if value is None or not value.lstrip("-").isdigit():
        return False
    return int(value) > int(values[0]) if rule["operator"] == "Gt" else int(value) < int(values[0])
