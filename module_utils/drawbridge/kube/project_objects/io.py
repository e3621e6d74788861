# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects of projects by the API server, as the installer."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from ...core.api.kubeconfig import Ask, Json
from ...core.converge import DeviceError, Step
from ...core.names import PROJECT
from .plan import CLAIM, VOLUME, Key, Objects, found, key_of, label, wanted

PLACES = {
    VOLUME: "/api/v1/persistentvolumes",
    CLAIM: "/api/v1/namespaces/{}/persistentvolumeclaims",
    "ResourceQuota": "/api/v1/namespaces/{}/resourcequotas",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
}
LISTS = {VOLUME: "/api/v1/persistentvolumes", CLAIM: "/api/v1/persistentvolumeclaims"}
"""Where all of a kind are: a label tells those of projects."""
FREE: Json = {"spec": {"claimRef": {"uid": None, "resourceVersion": None}}}
"""Without them a volume waits for a claim of the same name. An apply would leave them, since the binder wrote them."""
OK, MISSING = 200, 404


class KubeProjects:
    """Objects of all projects of a cluster."""

    name = "cluster"

    def __init__(self, ask: Ask, manifests: list[Json]) -> None:
        self._ask = ask
        self._manifests = {key_of(it): it for it in manifests}
        self._want = wanted(manifests).items

    def read(self) -> Objects:
        """Volumes and claims with the label, in one request each; others that the intent names, one by one."""
        live: dict[Key, Json] = {}
        for kind, path in LISTS.items():
            for item in self._got(f"{path}?labelSelector={quote(PROJECT)}")["items"]:
                whole = {**item, "kind": kind}
                live[key_of(whole)] = whole
        for key in (it for it in self._manifests if it[0] not in LISTS):
            status, answer = self._ask("GET", _path(key), None)
            if status == OK:
                live[key] = {**answer, "kind": key[0]}
            elif status != MISSING:
                raise DeviceError(f"{label(key)} can't be read: {answer.get('message', status)}")
        return Objects({key: found(item, self._want.get(key)) for key, item in live.items()})

    def apply(self, steps: Sequence[Step[Objects]]) -> None:
        """One request a step."""
        for step in steps:
            method, key = step.payload
            body = {"APPLY": self._manifests.get(key), "PATCH": FREE}.get(method)
            query = "?fieldManager=drawbridge&force=true" if method == "APPLY" else ""
            status, answer = self._ask(method, f"{_path(key)}{query}", body)
            if status >= 300 and (method, status) != ("DELETE", MISSING):
                raise DeviceError(f"{label(key)}: {answer.get('message', status)}")

    def _got(self, path: str) -> Json:
        status, answer = self._ask("GET", path, None)
        if status != OK:
            raise DeviceError(f"{path.partition('?')[0]} can't be read: {answer.get('message', status)}")
        return answer


def _path(key: Key) -> str:
    kind, space, name = key
    return f"{PLACES[kind].format(space)}/{name}"
