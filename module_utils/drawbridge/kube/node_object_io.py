# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host's Node object, read with the kubelet's own certificate: the host has no other credential."""

from __future__ import annotations

import urllib.error
import urllib.request
from calendar import timegm
from dataclasses import dataclass
from pathlib import Path
from time import strptime
from typing import Any

from ..core.api.host import Server
from ..core.converge import DeviceError
from ..core.names import CLOSED, TAINT

STAMP = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class NodeStatus:
    """The fields of a Node object that Drawbridge uses."""

    exists: bool
    gate: str = ""
    """Value of the gate's taint; empty if the node has none."""
    ready: bool = False
    heartbeat_s: float = 0.0
    """When its kubelet last wrote its status, in seconds of the epoch."""

    @property
    def in_use(self) -> str:
        """Why others may have pods here; empty for a closed node, and for one that does not exist."""
        if not self.exists or self.gate == CLOSED:
            return ""
        if self.gate:
            return f"the gate has not closed this node yet ({TAINT}={self.gate}); run this again when it has"
        return f"the node is open to all pods (no taint {TAINT}); let role slurm_gate close it, then run this again"


class NodeObject:
    """The node of this name. A host without the kubelet's certificate is no member."""

    def __init__(self, server: Server, certificate: Path, name: str) -> None:
        self._server, self.certificate, self._name = server, certificate, name

    @property
    def member(self) -> bool:
        """Whether the kubelet has a certificate."""
        return self.certificate.exists()

    def read(self) -> NodeStatus:
        """Raises DeviceError if the API server does not answer, or refuses this host."""
        request = urllib.request.Request(f"{self._server.url}/api/v1/nodes/{self._name}")
        try:
            return status_of(self._server.ask(request, str(self.certificate)))
        except urllib.error.HTTPError as err:
            if err.code == 404:
                return NodeStatus(False)
            message = f"{self._server.url} does not show node {self._name}: {err}"
            raise DeviceError(message, status=err.code) from err
        except (OSError, ValueError) as err:
            raise DeviceError(f"node {self._name} can't be read from {self._server.url}: {err}") from err

    def not_accepted(self) -> str:
        """Why the API server does not accept this host as a member; empty if it does. Raises DeviceError."""
        try:
            return "" if self.read().exists else f"the cluster has no Node {self._name}"
        except DeviceError as err:
            if err.details.get("status") == 401:
                return "the API server does not accept its certificate"
            raise


def status_of(node: dict[str, Any]) -> NodeStatus:
    """Parse a Node object."""
    taints = (node.get("spec") or {}).get("taints") or []
    conditions = (node.get("status") or {}).get("conditions") or []
    ready = next((it for it in conditions if it["type"] == "Ready"), {})
    stamp = ready.get("lastHeartbeatTime") or ""
    return NodeStatus(
        exists=True,
        gate=next((taint.get("value", "") for taint in taints if taint["key"] == TAINT), ""),
        ready=ready.get("status") == "True",
        heartbeat_s=float(timegm(strptime(stamp, STAMP))) if stamp else 0.0,
    )
