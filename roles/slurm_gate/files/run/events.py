# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' events: why a controller makes no pods, or a kubelet doesn't start one."""

from __future__ import annotations

from ..gate.api import Unreachable
from ..gate.config import Refused
from ..gate.states import Json
from .kube import Kube

EVENTS = "/api/v1/namespaces/{}/events"


def of(kube: Kube, namespace: str, name: str) -> list[Json]:
    """Warnings about an object, the newest last. Raises Refused, Unreachable."""
    found = kube.items(EVENTS.format(namespace), fieldSelector=f"involvedObject.name={name},type=Warning")
    return sorted(found.get("items") or [], key=lambda event: str(event.get("lastTimestamp") or ""))


def why_no_pods(kube: Kube, namespace: str, name: str) -> str:
    """One sentence about a workload without pods."""
    try:
        warnings = of(kube, namespace, name)
    except (Refused, Unreachable) as err:
        return f"{name} has no pods, and Kubernetes does not say why ({err})"
    warnings = [event for event in warnings if "Fail" in str(event.get("reason"))] or warnings
    if warnings:
        return f"{name} has no pods: {warnings[-1].get('message', warnings[-1].get('reason'))}"
    return f"{name} has no pods: its controller has not begun"
