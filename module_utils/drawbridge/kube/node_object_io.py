# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host's Node object, asked for with the kubelet's own certificate: no other credential is on the host."""

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
class Seen:
    """A Node object, as far as anybody here asks."""

    exists: bool
    gate: str = ""
    """Value of the gate's taint; empty if the node has none."""
    ready: bool = False
    heard_s: float = 0.0
    """When its kubelet last wrote its status, in seconds of the epoch."""
    version: str = ""

    @property
    def in_use(self) -> str:
        """Why others may have pods here; empty for a closed node, and for one that is not there."""
        if not self.exists or self.gate == CLOSED:
            return ""
        if self.gate:
            return f"the gate has not closed this node yet ({TAINT}={self.gate}); run this again when it has"
        return f"the node is open to all pods (no taint {TAINT}); let role slurm_gate close it, then run this again"


class OwnNode:
    """The node of this name. Without a certificate this host is no member, and nobody is asked."""

    def __init__(self, server: Server, certificate: Path, name: str) -> None:
        self._server, self.certificate, self._name = server, certificate, name

    @property
    def member(self) -> bool:
        """Whether the kubelet has an identity."""
        return self.certificate.exists()

    def look(self) -> Seen:
        """Ask for it. Raises DeviceError when the API server does not say."""
        found = self._get(f"/api/v1/nodes/{self._name}")
        return seen(found) if found else Seen(False)

    def stranger(self) -> str:
        """Why the API server does not take this host for a member; empty if it does. Raises DeviceError."""
        try:
            return "" if self.look().exists else f"the cluster has no Node {self._name}"
        except DeviceError as err:
            if err.details.get("status") == 401:
                return "the API server does not accept its certificate"
            raise

    def _get(self, path: str) -> dict[str, Any] | None:
        try:
            return self._server.ask(urllib.request.Request(self._server.url + path), str(self.certificate))
        except urllib.error.HTTPError as err:
            if err.code == 404:
                return None
            message = f"{self._server.url} does not tell about node {self._name}: {err}"
            raise DeviceError(message, status=err.code) from err
        except (OSError, ValueError) as err:
            raise DeviceError(f"{self._server.url} can't be asked about node {self._name}: {err}") from err


def seen(node: dict[str, Any]) -> Seen:
    """What a Node object says."""
    taints = (node.get("spec") or {}).get("taints") or []
    status = node.get("status") or {}
    ready = next((it for it in status.get("conditions") or [] if it["type"] == "Ready"), {})
    stamp = ready.get("lastHeartbeatTime") or ""
    return Seen(
        exists=True,
        gate=next((taint.get("value", "") for taint in taints if taint["key"] == TAINT), ""),
        ready=ready.get("status") == "True",
        heard_s=float(timegm(strptime(stamp, STAMP))) if stamp else 0.0,
        version=(status.get("nodeInfo") or {}).get("kubeletVersion", ""),
    )
