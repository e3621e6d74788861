# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""IBM's operator for Storage Scale, played on a real API server: it tries the password, and counts pods as ready."""

from __future__ import annotations

import base64
import threading
from types import TracebackType
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import Ask
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.names import (
    DRIVER_NODES,
    DRIVER_SIDECARS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.objects import (
    KIND,
    NAMESPACE,
    OPERATOR,
    PLACES,
    RESOURCE,
    SIDECARS,
)

Json = dict[str, Any]
WHEN = "2026-01-01T00:00:00Z"
FINALIZER = "finalizer.csiscaleoperators.csi.ibm.com"
POLL_S = 0.2


class ScaleOperator:
    """Runs beside a test. `mood`: works, or lies, which reports success without a driver."""

    def __init__(self, ask: Ask, password: str) -> None:
        self._ask, self.password, self.mood = ask, password, "works"
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ScaleOperator:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        """End."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(POLL_S):
            self.reconcile()

    def reconcile(self) -> None:
        """One look at its resource."""
        resource, operator = self._got(f"{PLACES[KIND]}/{RESOURCE}"), self._got(f"{PLACES['Deployment']}/{OPERATOR}")
        if operator:
            self._state(PLACES["Deployment"], OPERATOR, {"replicas": 1, "availableReplicas": 1, "readyReplicas": 1})
        if not (operator and resource):
            return
        if resource["metadata"].get("deletionTimestamp"):
            self._patch(f"{PLACES[KIND]}/{RESOURCE}", {"metadata": {"finalizers": None}})
            return
        self._patch(f"{PLACES[KIND]}/{RESOURCE}", {"metadata": {"finalizers": [FINALIZER]}})
        names = [it["secrets"] for it in resource["spec"]["clusters"]]
        if not all(self._password(name) == self.password for name in names):
            why = f"Failed to connect to the GUI. 401: Unauthorized, the Secret {names[0]} has incorrect credentials"
            self._word("False", "GUIConnFailed", why)
            return
        if self.mood == "works":
            self._driver(names)
        self._word("True", "CSIConfigured", "The CSI driver resources have been created/updated successfully")

    def _driver(self, secrets: list[str]) -> None:
        nodes, infra = self._nodes(DRIVER_NODES), self._nodes(DRIVER_SIDECARS)
        self._make("DaemonSet", RESOURCE, secrets)
        counts = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady")
        self._state(PLACES["DaemonSet"], RESOURCE, {**dict.fromkeys(counts, nodes), "numberMisscheduled": 0})
        for name in SIDECARS:
            self._make("Deployment", name, [])
            here = min(2, infra)
            self._state(
                PLACES["Deployment"], name, {"replicas": here, "availableReplicas": here, "readyReplicas": here}
            )

    def _make(self, kind: str, name: str, secrets: list[str]) -> None:
        volumes = [{"name": f"v{index}", "secret": {"secretName": it}} for index, it in enumerate(secrets)]
        pod = {"containers": [{"name": "x", "image": "x"}], "volumes": volumes}
        template = {"metadata": {"labels": {"app": name}}, "spec": pod}
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
        about = {"name": name, "namespace": NAMESPACE}
        body = {"apiVersion": "apps/v1", "kind": kind, "metadata": about, "spec": spec}
        self._ask("APPLY", f"{PLACES[kind]}/{name}?fieldManager=scale&force=true", body)

    def _word(self, status: str, reason: str, message: str) -> None:
        found = {"type": "Success", "status": status, "reason": reason, "message": message, "lastTransitionTime": WHEN}
        self._state(PLACES[KIND], RESOURCE, {"conditions": [found]})

    def _state(self, place: str, name: str, status: Json) -> None:
        self._patch(f"{place}/{name}/status", {"status": status})

    def _patch(self, path: str, body: Json) -> None:
        self._ask("PATCH", path, body)

    def _got(self, path: str) -> Json | None:
        try:
            status, found = self._ask("GET", path, None)
        except ValueError:  # the server has no such kind yet, and says so in plain text
            return None
        return found if status == 200 else None

    def _nodes(self, label: str) -> int:
        return len((self._got(f"/api/v1/nodes?labelSelector={label.replace('/', '%2F')}") or {}).get("items", ()))

    def _password(self, name: str) -> str:
        found = self._got(f"{PLACES['Secret']}/{name}") or {"data": {"password": ""}}
        return base64.b64decode(found["data"]["password"]).decode()
