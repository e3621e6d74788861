# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.rights.io import (
    REVIEWS,
    different,
    lacking,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.rights.rbac import Grant

NODES = Grant("", "nodes", ("get", "list"))
TOKENS = Grant("", "secrets", ("create",), namespace="kube-system")
WANTED = [*NODES.rights(), *TOKENS.rights()]
EVERYWHERE = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}
THERE = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]}

Rules = dict[str, list[dict[str, Any]]]


def server(held: Rules, **status: Any) -> tuple[Any, list[str]]:
    """An API server where rules are in force by namespace; and the namespaces of its queries."""
    asked: list[str] = []

    def ask(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        assert (method, path) == ("POST", REVIEWS)
        asked.append(body["spec"]["namespace"])
        return 201, {"status": {"resourceRules": held[asked[-1]], "incomplete": False, **status}}

    return ask, asked


def test_a_run_with_its_rights_lacks_nothing_and_queries_each_namespace_once() -> None:
    ask, asked = server({"drawbridge-installer": [EVERYWHERE], "kube-system": [EVERYWHERE, THERE]})
    assert lacking(ask, WANTED) == []
    assert asked == ["drawbridge-installer", "kube-system"]


def test_missing_rights_are_named_where_they_are_missing() -> None:
    ask, _ = server({"drawbridge-installer": [THERE], "kube-system": [EVERYWHERE]})
    assert [(it.resource, it.verb) for it in lacking(ask, WANTED)] == [
        ("nodes", "get"),
        ("nodes", "list"),
        ("secrets", "create"),
    ]


def test_an_authorizer_that_can_not_list_rights_is_believed() -> None:
    ask, _ = server({"drawbridge-installer": [], "kube-system": []}, incomplete=True)
    assert lacking(ask, WANTED) == []


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "does not accept the kubeconfig's certificate or token, which may be too old"),
        (403, 'the kubeconfig\'s user may not act as the installer: users "drawbridge" is forbidden'),
    ],
)
def test_a_user_that_may_not_act_as_the_installer_gets_an_error(status: int, said: str) -> None:
    with pytest.raises(DeviceError, match=said):
        lacking(lambda *_: (status, {"message": 'users "drawbridge" is forbidden'}), WANTED)


BINDING = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "b"},
    "spec": {"policyName": "b"},
}
PATH = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/b"


@pytest.mark.parametrize(
    ("status", "spec", "found"),
    [
        (200, {"policyName": "b", "matchResources": {}}, []),
        (200, {"policyName": "c"}, [BINDING]),
        (404, None, [BINDING]),
    ],
)
def test_objects_that_a_run_can_not_create(status: int, spec: Any, found: list[Any]) -> None:
    def ask(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        assert (method, path, body) == ("GET", PATH, None)
        return status, {"spec": spec}

    assert different(ask, [BINDING, {"kind": "Namespace", "metadata": {"name": "n"}}]) == found


def test_a_failed_read_is_reported() -> None:
    with pytest.raises(DeviceError, match="ValidatingAdmissionPolicyBinding b can't be read: no"):
        different(lambda *_: (500, {"message": "no"}), [BINDING])
