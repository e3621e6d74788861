# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes and pods of a cluster, as kube.capacity.plan needs them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...core.api.kubeconfig import Ask, Json
from ...core.converge import DeviceError
from ..quantity import quantity
from .plan import Node, Pod

ENDED = ("Succeeded", "Failed")


def read(ask: Ask, job_namespaces: Iterable[str]) -> tuple[list[Node], list[Pod]]:
    """Two API calls, for any cluster size. Pods of jobs use resources, but are not returned."""
    spaces = set(job_namespaces)
    raw = [pod for pod in _items(ask, "/api/v1/pods") if pod.get("status", {}).get("phase") not in ENDED]
    pods = [(_pod(item), item["metadata"]["namespace"] in spaces) for item in raw]
    used: dict[str, dict[str, float]] = {}
    for pod, _unused in pods:
        _add(used.setdefault(pod.node, {}), pod.needs)
    nodes = [_node(item, used.get(item["metadata"]["name"], {})) for item in _items(ask, "/api/v1/nodes")]
    return nodes, [pod for pod, of_job in pods if not of_job]


def _items(ask: Ask, path: str) -> list[Json]:
    status, answer = ask("GET", path, None)
    if status >= 300:
        raise DeviceError(f"{path} can't be listed: {answer.get('message', status)}")
    return answer.get("items") or []


def _node(item: Json, used: Mapping[str, float]) -> Node:
    spec, status = item.get("spec", {}), item.get("status", {})
    conditions = {it["type"]: it["status"] for it in status.get("conditions", [])}
    has = _amounts(status.get("allocatable", {}))
    return Node(
        name=item["metadata"]["name"],
        labels=item["metadata"].get("labels", {}),
        taints=spec.get("taints") or [],
        free={what: amount - used.get(what, 0) for what, amount in has.items()},
        ready=conditions.get("Ready") == "True",
        cordoned=bool(spec.get("unschedulable")),
    )


def _pod(item: Json) -> Pod:
    metadata, spec = item["metadata"], item["spec"]
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or {}
    owners = {owner["kind"] for owner in metadata.get("ownerReferences") or []}
    return Pod(
        name=f"{metadata['namespace']}/{metadata['name']}",
        node=spec.get("nodeName") or "",
        needs=_needs(spec),
        tolerations=spec.get("tolerations") or [],
        selector=spec.get("nodeSelector") or {},
        terms=affinity.get("nodeSelectorTerms") or [],
        stays=bool(owners & {"DaemonSet", "Node"}),
    )


def _needs(spec: Json) -> dict[str, float]:
    """The scheduler's sum: containers and sidecars, or the init containers that run at once if larger, and one pod.

    Sidecars (init containers that are always restarted) keep running beside all later containers.
    """
    before: dict[str, float] = {}
    sidecars: dict[str, float] = {}
    for container in spec.get("initContainers") or []:
        at_a_time = dict(sidecars)
        _add(at_a_time, _requests(container))
        if container.get("restartPolicy") == "Always":
            sidecars = at_a_time
        before = _most(before, at_a_time)
    needs = dict(sidecars)
    for container in spec["containers"]:
        _add(needs, _requests(container))
    needs = _most(needs, before)
    _add(needs, {"pods": 1.0, **_amounts(spec.get("overhead") or {})})
    return needs


def _requests(container: Json) -> dict[str, float]:
    return _amounts((container.get("resources") or {}).get("requests") or {})


def _add(total: dict[str, float], more: Mapping[str, float]) -> None:
    for what, amount in more.items():
        total[what] = total.get(what, 0) + amount


def _most(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {what: max(one.get(what, 0), other.get(what, 0)) for what in {**one, **other}}


def _amounts(quantities: dict[str, Any]) -> dict[str, float]:
    return {what: float(quantity(amount) or 0) for what, amount in quantities.items()}
