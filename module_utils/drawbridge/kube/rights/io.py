# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The rights of a run, as the API server knows them."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.api.kubeconfig import Ask
from ...core.converge import DeviceError
from ...core.names import INSTALLER_NAMESPACE
from .rbac import Json, Right, Rule, allows, same

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
READ, UNAUTHORIZED, MISSING = 200, 401, 404
IN = "{namespace}"
_RBAC, _ADMISSION = "/apis/rbac.authorization.k8s.io/v1", "/apis/admissionregistration.k8s.io/v1"
KINDS = {
    "Namespace": "/api/v1/namespaces",
    "ClusterRole": f"{_RBAC}/clusterroles",
    "ClusterRoleBinding": f"{_RBAC}/clusterrolebindings",
    "Role": f"{_RBAC}/roles",
    "RoleBinding": f"{_RBAC}/rolebindings",
    "ValidatingAdmissionPolicy": f"{_ADMISSION}/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": f"{_ADMISSION}/validatingadmissionpolicybindings",
    "ConfigMap": f"/api/v1/namespaces/{IN}/configmaps",
}
"""Where objects are, of the kinds that are compared."""


def lacking(ask: Ask, wanted: Iterable[Right]) -> list[Right]:
    """Rights that the run does not have. Raises DeviceError if the API server does not say.

    One request for each namespace. Another authorizer than RBAC may not be able to list rights; none are missed then.
    """
    spaces: dict[str, list[Right]] = {}
    for right in wanted:
        spaces.setdefault(right.namespace or INSTALLER_NAMESPACE, []).append(right)
    return [
        right
        for space, rights in spaces.items()
        for found in [_held(ask, space)]
        if found is not None
        for right in rights
        if not allows(found, right)
    ]


def _held(ask: Ask, namespace: str) -> list[Rule] | None:
    """Rules that are in force in a namespace; None if the API server can't list all of them."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": namespace},
    }
    status, answer = ask("POST", REVIEWS, review)
    if status == UNAUTHORIZED:
        raise DeviceError("the API server does not accept the kubeconfig's certificate or token, which may be too old")
    if status >= 300:
        raise DeviceError(f"the kubeconfig's user may not act as the installer: {answer.get('message', status)}")
    found = answer["status"]
    return None if found.get("incomplete") else found["resourceRules"]


def different(ask: Ask, objects: Iterable[Json]) -> list[Json]:
    """Those of these objects that are missing, or say something else. A run can't write them. Raises DeviceError."""
    found = _Live(ask)
    return [it for it in objects if it["kind"] in KINDS and not _as_wanted(found.of(it), it)]


def _as_wanted(live: Json | None, wanted: Json) -> bool:
    return live is not None and same(live, wanted)


class _Live:
    """Objects of the API server; one request for each kind."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._lists: dict[str, dict[tuple[str, str], Json]] = {}

    def of(self, item: Json) -> Json | None:
        """The object of this kind and name; None if there is none."""
        key = item["metadata"].get("namespace", ""), item["metadata"]["name"]
        at = f"{KINDS[item['kind']]}/{key[1]}".replace(IN, key[0])
        if IN in KINDS[item["kind"]]:  # named in the run's rights, which may list no other
            return self._answer(at, item, MISSING)
        return self._all(item).get(key)

    def _all(self, item: Json) -> dict[tuple[str, str], Json]:
        path = KINDS[item["kind"]]
        if path not in self._lists:
            items = (self._answer(path, item) or {})["items"]
            self._lists[path] = {(it["metadata"].get("namespace", ""), it["metadata"]["name"]): it for it in items}
        return self._lists[path]

    def _answer(self, path: str, item: Json, nothing: int = 0) -> Json | None:
        status, answer = self._ask("GET", path, None)
        if status == nothing:
            return None
        if status != READ:
            kind, name = item["kind"], item["metadata"]["name"]
            raise DeviceError(f"{kind} {name} can't be read: {answer.get('message', status)}")
        return answer
