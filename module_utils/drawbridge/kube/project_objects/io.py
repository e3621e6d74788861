# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects of projects by the API server, as the installer."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from ...core.api.kubeconfig import Ask, Json
from ...core.converge import DeviceError, Step
from ...core.names import CLAIMS, HOST_PATHS, PROJECT, READ_ONLY_CLAIMS, STORAGE_CLASSES
from .plan import CLAIM, SPACE, VOLUME, Key, Objects, Space, found, key_of, label, wanted

PLACES = {
    VOLUME: "/api/v1/persistentvolumes",
    CLAIM: "/api/v1/namespaces/{}/persistentvolumeclaims",
    SPACE: "/api/v1/namespaces",
    "ResourceQuota": "/api/v1/namespaces/{}/resourcequotas",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
}
OF_PROJECTS = f"labelSelector={quote(PROJECT)}"
LISTS = {VOLUME: "/api/v1/persistentvolumes", CLAIM: "/api/v1/persistentvolumeclaims"}
"""Where all of a kind are: a label tells those of projects."""
FREE: Json = {"spec": {"claimRef": {"uid": None, "resourceVersion": None}}}
"""Without them a volume waits for a claim of the same name. An apply would leave them, since the binder wrote them."""
GIVEN = (HOST_PATHS, CLAIMS, READ_ONLY_CLAIMS, STORAGE_CLASSES)
"""Annotations of a namespace that say what its pods have."""
CLOSED: Json = {"metadata": {"annotations": dict.fromkeys(GIVEN, "")}}
INSIDE = ("pods", "persistentvolumeclaims")
OK, MISSING = 200, 404


class KubeProjects:
    """Objects of all projects of a cluster."""

    name = "cluster"

    def __init__(self, ask: Ask, manifests: list[Json], ended: Sequence[Json] = ()) -> None:
        """`ended`: namespaces of projects that have ended, as C(namespace), C(project) and C(removed)."""
        self._ask, self._ended = ask, ended
        self._manifests = {key_of(it): it for it in manifests}
        self._want = wanted(manifests).items

    def read(self) -> Objects:
        """Volumes and claims with the label, in one request each; others that the intent names, one by one."""
        live: dict[Key, Json] = {}
        for kind, path in LISTS.items():
            for item in self._got(f"{path}?{OF_PROJECTS}")["items"]:
                whole = {**item, "kind": kind}
                live[key_of(whole)] = whole
        for key in (it for it in self._manifests if it[0] not in LISTS):
            status, answer = self._ask("GET", _path(key), None)
            if status == OK:
                live[key] = {**answer, "kind": key[0]}
            elif status != MISSING:
                raise DeviceError(f"{label(key)} can't be read: {answer.get('message', status)}")
        items = {key: found(item, self._want.get(key)) for key, item in live.items()}
        return Objects(items, self._spaces() if self._ended else {})

    def _spaces(self) -> dict[str, Space]:
        """Those that exist, and that the label gives to their projects."""
        live = {it["metadata"]["name"]: it["metadata"] for it in self._got(f"{PLACES[SPACE]}?{OF_PROJECTS}")["items"]}
        spaces: dict[str, Space] = {}
        for it in self._ended:
            name, removed = it["namespace"], it["removed"]
            if name in live and live[name]["labels"][PROJECT] == it["project"]:
                given = any((live[name].get("annotations") or {}).get(key) for key in GIVEN)
                spaces[name] = Space(given, removed, self._holds(name) if removed else "")
        return spaces

    def _holds(self, space: str) -> str:
        for kind in INSIDE:
            if items := self._got(f"{PLACES[SPACE]}/{space}/{kind}?limit=1")["items"]:
                return f"{kind[:-1]} {items[0]['metadata']['name']}"
        return ""

    def apply(self, steps: Sequence[Step[Objects]]) -> None:
        """One request a step."""
        for step in steps:
            method, key = step.payload
            body = {"APPLY": self._manifests.get(key), "PATCH": FREE, "CLOSE": CLOSED}.get(method)
            query = "?fieldManager=drawbridge&force=true" if method == "APPLY" else ""
            verb = "PATCH" if method == "CLOSE" else method
            status, answer = self._ask(verb, f"{_path(key)}{query}", body)
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
