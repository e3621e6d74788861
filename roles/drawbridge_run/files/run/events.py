# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' events: why a controller makes no pods, or a kubelet doesn't start one."""

from __future__ import annotations

from collections.abc import Sequence

from ..gate.api import Unreachable
from ..gate.config import Refused
from ..gate.states import Json
from .kube import Kube

EVENTS = "/api/v1/namespaces/{}/events"
KUBELETS = "source=kubelet"
UNDER_WAY = ("Pulling", "Pulled", "Created", "Started")
"""A kubelet's events for a pod that has its sandbox and its volumes."""


def of(kube: Kube, namespace: str, name: str) -> list[Json]:
    """Warnings about an object, the newest last. Raises Refused, Unreachable."""
    return _listed(kube, namespace, f"involvedObject.name={name},type=Warning")


def failed_start(kube: Kube, namespace: str, names: Sequence[str]) -> Json | None:
    """The failure event of the first of these pods that did not start since; None while all may start.

    A failure is over when a later event shows progress, such as the pull of an image. Raises Refused, Unreachable.
    """
    warnings = _listed(kube, namespace, f"{KUBELETS},involvedObject.kind=Pod,type=Warning")
    failed = {event["involvedObject"]["name"] for event in warnings if _failure(event)}
    for name in names:
        if name in failed:
            listed = _listed(kube, namespace, f"{KUBELETS},involvedObject.name={name}")
            steps = [event for event in listed if _failure(event) or event.get("reason") in UNDER_WAY]
            if steps and _failure(steps[-1]):
                return steps[-1]
    return None


def why_no_pods(kube: Kube, namespace: str, name: str) -> str:
    """Why a workload has no pods, as a sentence."""
    try:
        warnings = of(kube, namespace, name)
    except (Refused, Unreachable) as err:
        return f"{name} has no pods, and its events can't be read ({err})"
    warnings = [event for event in warnings if "Fail" in str(event.get("reason"))] or warnings
    if warnings:
        return f"{name} has no pods: {warnings[-1].get('message', warnings[-1].get('reason'))}"
    return f"{name} has no pods: its controller has not created any yet"


def _listed(kube: Kube, namespace: str, selector: str) -> list[Json]:
    """Events, the newest last."""
    found = kube.items(EVENTS.format(namespace), fieldSelector=selector)
    return sorted(found.get("items") or [], key=lambda event: str(event.get("lastTimestamp") or ""))


def _failure(event: Json) -> bool:
    return event.get("type") == "Warning" and str(event.get("reason")).startswith("Failed")
