# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads events while pods start: some failures, such as a missing sandbox image, are not in a pod's status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..gate.api import Unreachable
from ..gate.config import Refused
from .events import failed_start
from .kube import Kube
from .pods import STARTING, Json, Pod, Trouble

READ_S = 20.0  # most pods run by then


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
