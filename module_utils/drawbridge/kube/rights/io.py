# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The rights of a run, as the API server knows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.api.kubeconfig import Ask
from ...core.converge import DeviceError
from ...core.names import INSTALLER_NAMESPACE
from .rbac import Json, Right, Rule, allows, includes

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
UNAUTHORIZED, MISSING = 401, 404
PLURALS = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}


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
    """Admission policies and their bindings among these objects that are missing, or have another value in a field.

    A run can't create them. Raises DeviceError.
    """
    return [it for it in objects if it["kind"] in PLURALS and not includes(_read(ask, it), it["spec"])]


def _read(ask: Ask, item: Json) -> Any:
    """The object's specification; None if it does not exist."""
    path = f"/apis/{item['apiVersion']}/{PLURALS[item['kind']]}/{item['metadata']['name']}"
    status, answer = ask("GET", path, None)
    if status not in (200, MISSING):
        raise DeviceError(f"{item['kind']} {item['metadata']['name']} can't be read: {answer.get('message', status)}")
    return answer.get("spec") if status == 200 else None
