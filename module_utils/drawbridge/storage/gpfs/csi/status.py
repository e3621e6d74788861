# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the driver works, from what its operator says and from what there is. Pure.

The operator keeps an old word while it does not run, so its word is no proof: the driver's pods are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .objects import OPERATOR, RESOURCE

Json = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """What the API server has of the driver; None for what does not exist."""

    resource: Json | None = None
    operator: Json | None = None
    daemons: Json | None = None
    sidecars: Mapping[str, Json | None] = field(default_factory=dict)


def fault(seen: Seen, variable: str = "credentials") -> str:
    """Why the driver does not work, with the repair; "" if it does."""
    if not _available(seen.operator):
        return f"no pod of Deployment {OPERATOR} is ready; kubectl describe it, its images may be missing"
    found = _word(seen.resource or {}, variable)
    if found:
        return found
    if not seen.daemons:
        return f"the operator reports success, but DaemonSet {RESOURCE} does not exist; read the operator's log"
    if lacking := [it for it in _secrets(seen.resource or {}) if it not in _mounted(seen.daemons)]:
        return f"the operator has not taken over the new settings: DaemonSet {RESOURCE} does not mount {lacking[0]}"
    status = seen.daemons.get("status") or {}
    if not status.get("desiredNumberScheduled"):
        return "no node has the driver: none mounts all file systems, or none is in Kubernetes"
    if not status.get("numberReady"):
        return f"no pod of DaemonSet {RESOURCE} is ready; kubectl describe one of its pods"
    down = [name for name, it in seen.sidecars.items() if not _available(it)]
    if down:
        return f"no pod of Deployment {', '.join(down)} is ready; two infra nodes must mount all file systems"
    return ""


def late(seen: Seen) -> str:
    """How many nodes wait for the driver; "" for none."""
    status = (seen.daemons or {}).get("status") or {}
    ready, wanted = status.get("numberReady", 0), status.get("desiredNumberScheduled", 0)
    return f"the driver is ready on {ready} of {wanted} nodes" if ready < wanted else ""


def _word(resource: Json, variable: str) -> str:
    """What the operator says, in words that name the intent's keys."""
    conditions = (resource.get("status") or {}).get("conditions") or []
    found = next((it for it in conditions if it.get("type") == "Success"), None)
    if not found or found.get("status") == "Unknown":
        return f"the operator says nothing about {RESOURCE} yet; read its log"
    if found.get("status") == "True":
        return ""
    message, reason = str(found.get("message", "")), str(found.get("reason", ""))
    return f"the operator reports {reason}: {message.rstrip('.')}; {_repair(reason, message, variable)}"


def _repair(reason: str, message: str, variable: str) -> str:
    if "401" in message:
        return f"set user and password of the GUI's user in {variable}"
    if "403" in message:
        return f"unlock the GUI's user, and set its password in {variable}"
    if reason == "ClusterIDMismatch":
        return "set drawbridge_gpfs.csi.cluster.id as mmlscluster prints it, or name the hosts of that cluster's GUI"
    if reason == "GUIConnFailed":
        return "check drawbridge_gpfs.csi: hosts and ports of the GUI, and the CA of its certificate"
    return "read the operator's log"


def _available(deployment: Json | None) -> bool:
    return bool(((deployment or {}).get("status") or {}).get("availableReplicas"))


def _secrets(resource: Json) -> list[str]:
    return [it["secrets"] for it in (resource.get("spec") or {}).get("clusters") or []]


def _mounted(daemons: Json) -> Sequence[str]:
    volumes = daemons["spec"]["template"]["spec"].get("volumes") or []
    return [it["secret"]["secretName"] for it in volumes if it.get("secret")]
