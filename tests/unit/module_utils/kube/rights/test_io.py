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


ADMISSION = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
NAMED = "/api/v1/namespaces/gate/configmaps/open"


def thing(kind: str, name: str, namespace: str = "", **content: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, **({"namespace": namespace} if namespace else {})}, **content}


BINDING, SECOND = (thing("ValidatingAdmissionPolicyBinding", name, spec={"policyName": name}) for name in "ab")
OPEN = thing("ConfigMap", "open", "gate", data={"infra1": ""})


def holding(lists: dict[str, Any]) -> tuple[Any, list[str]]:
    """An API server with these lists and objects, and the paths of its requests."""
    asked: list[str] = []

    def ask(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        assert (method, body) == ("GET", None)
        asked.append(path)
        return (200, lists[path]) if path in lists else (404, {"message": "none"})

    return ask, asked


def test_missing_and_other_objects_are_named_and_each_kind_is_read_once() -> None:
    other = {**SECOND, "spec": {"policyName": "c"}}
    ask, asked = holding({ADMISSION: {"items": [BINDING, other]}, NAMED: OPEN})
    assert different(ask, [BINDING, SECOND, OPEN]) == [SECOND]
    assert asked == [ADMISSION, NAMED]
    ask, _ = holding({ADMISSION: {"items": []}})
    assert different(ask, [BINDING, OPEN]) == [BINDING, OPEN]


def test_objects_of_the_same_name_elsewhere_are_others() -> None:
    role = thing("RoleBinding", "r", "here", subjects=[])
    path = "/apis/rbac.authorization.k8s.io/v1/rolebindings"
    ask, _ = holding({path: {"items": [{**role, "metadata": {"name": "r", "namespace": "there"}}]}})
    assert different(ask, [role]) == [role]


def test_what_a_run_may_not_read_is_not_compared() -> None:
    ask, asked = holding({})
    assert different(ask, [thing("ServiceAccount", "installer", "here")]) == asked == []


def test_a_failed_read_is_reported() -> None:
    with pytest.raises(DeviceError, match="ValidatingAdmissionPolicyBinding a can't be read: no"):
        different(lambda *_: (500, {"message": "no"}), [BINDING])
