# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' events: why a controller creates no pods, or a kubelet does not start one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..gate.api import Unreachable
from ..gate.config import Refused
from ..gate.states import Json
from .kube import Kube
from .pods import STARTING, Pod, Trouble

EVENTS = "/api/v1/namespaces/{}/events"
KUBELETS = "source=kubelet"
UNDER_WAY = ("Pulling", "Pulled", "Created", "Started")
"""A kubelet's events for a pod that has its sandbox and its volumes."""
READ_S = 20.0  # most pods run by then


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
    found = kube.items(EVENTS.format(namespace), fieldSelector=selector)
    return sorted(found.get("items") or [], key=lambda event: str(event.get("lastTimestamp") or ""))


def _failure(event: Json) -> bool:
    return event.get("type") == "Warning" and str(event.get("reason")).startswith("Failed")


class StartFailures:
    """Failures that kubelets report in events only."""

    def __init__(self, kube: Kube, namespace: str, now: float, patience_s: float) -> None:
        self._kube, self._namespace = kube, namespace
        self._every = min(READ_S, patience_s)
        self._at = now + self._every
        self._event: Json | None = None

    def trouble(self, found: Iterable[Pod], now: float) -> Trouble | None:
        """The reason why a pod does not start; None while all may still start."""
        starting = {pod.name: pod for pod in found if pod.state == STARTING}
        if starting and now >= self._at:
            self._at = now + self._every
            self._event = self._request(sorted(starting, key=lambda name: starting[name].rank))
        pod = starting.get(self._event["involvedObject"]["name"]) if self._event else None
        if not (self._event and pod):
            return None
        return Trouble(f"{pod.label} does not start ({self._event['reason']}): {self._event.get('message', '')}")

    def _request(self, names: Sequence[str]) -> Json | None:
        try:
            return failed_start(self._kube, self._namespace, names)
        except (Refused, Unreachable):
            return self._event
