# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether all non-job pods fit on the nodes that are never gated, and why a pod does not."""

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
    """A pod as the scheduler sees it. `node` is empty while it is Pending."""

    name: str
    node: str
    needs: Amounts
    tolerations: Sequence[Json] = ()
    selector: Mapping[str, str] = field(default_factory=dict)
    terms: Sequence[Json] = ()
    """Required node affinity: one term must match."""
    stays: bool = False
    """A DaemonSet's or a static pod: it can't run on another node."""


@dataclass
class Node:
    """A node and its free resources."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Json]
    free: dict[str, float]
    ready: bool = True
    cordoned: bool = False


def faults(nodes: Sequence[Node], pods: Sequence[Pod], infra: Iterable[str], gated: Iterable[str]) -> list[str]:
    """Infra nodes that can't be used, and pods that fit on no ungated node."""
    closed = set(gated)
    found = [f"drawbridge_kube.infra names {name}, but {why}" for name in infra if (why := _unfit(name, nodes))]
    ungated = [node for node in nodes if node.name not in closed and not _unfit(node.name, [node])]
    closing = [node for node in nodes if node.name in closed]
    moving = [pod for pod in pods if _must_move(pod, closing)]
    for pod in sorted(moving, key=lambda pod: [-pod.needs.get(what, 0) for what in ("memory", "cpu")]):
        refusals = [_refusal(pod, node) for node in ungated]
        if "" in refusals:
            free = ungated[refusals.index("")].free
            for what, amount in pod.needs.items():
                free[what] = free.get(what, 0) - amount
        else:
            why = "; ".join(refusals) or "there is no ungated node that is Ready"
            found.append(
                f"pod {pod.name} fits on no infra node when {pod.node or 'every gated node'} is closed: {why}; "
                "add nodes to drawbridge_kube.infra, or free resources on them"
            )
    return found


def _unfit(name: str, nodes: Sequence[Node]) -> str:
    node = next((node for node in nodes if node.name == name), None)
    if node is None:
        return f"the cluster has no such node; join it, or remove {name} from the list"
    if any(taint["key"] == TAINT for taint in node.taints):
        return f"it has the taint {TAINT}; remove the taint, or {name} from the list"
    if not node.ready:
        return f"it is not Ready; repair its kubelet, or remove {name} from the list"
    return f"it is cordoned; kubectl uncordon {name}, or remove it from the list" if node.cordoned else ""


def _must_move(pod: Pod, closing: Sequence[Node]) -> bool:
    """It runs on a gated node, or could run there without the gate's taint. Other Pending pods do not count."""
    if pod.stays or any(_matches(toleration, {"key": TAINT}) for toleration in pod.tolerations):
        return False
    if pod.node:
        return any(node.name == pod.node for node in closing)
    return any(not _refusal(pod, node, without_gate=True) for node in closing)


def _refusal(pod: Pod, node: Node, without_gate: bool = False) -> str:
    """Why a node can't take a pod; empty when it can."""
    for taint in node.taints:
        hard = taint.get("effect") in KEEPS_OUT and not (without_gate and taint["key"] == TAINT)
        if hard and not any(_matches(toleration, taint) for toleration in pod.tolerations):
            return f"{node.name} has the taint {taint['key']}"
    if any(node.labels.get(key) != value for key, value in pod.selector.items()):
        return f"{node.name} does not match its nodeSelector"
    if pod.terms and not any(_fits(term, node) for term in pod.terms):
        return f"{node.name} does not match its node affinity"
    short = [what for what, amount in pod.needs.items() if amount > node.free.get(what, 0)]
    return f"{node.name} has too little {' and '.join(sorted(short))} left" if short else ""


def _matches(toleration: Json, taint: Json) -> bool:
    """Whether a toleration covers a taint; a taint without value matches any value."""
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
