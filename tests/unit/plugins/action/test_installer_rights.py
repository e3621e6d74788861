# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action import installer_rights
from ansible_collections.drawbridge.drawbridge.plugins.action.installer_rights import ActionModule, check
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

ROLE = {
    "kind": "ClusterRole",
    "metadata": {"name": "installer"},
    "rules": [
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "patch"], "resourceNames": ["chem"]},
        {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["drawbridge"]},
    ],
}
BINDING = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "b"},
    "spec": {"policyName": "b"},
}


def server(rules: Any, binding: int = 200) -> Any:
    def ask(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        if method == "GET":
            return binding, {"spec": {"policyName": "b"}}
        return 201, {"status": {"resourceRules": rules}}

    return ask


def test_the_right_to_act_as_the_installer_is_not_the_installers() -> None:
    assert check(server(ROLE["rules"][:1]), [ROLE, BINDING]) == []


def test_missing_rights_and_objects_are_named() -> None:
    assert check(server([]), [ROLE]) == ["get and patch namespaces chem"]
    assert check(server(ROLE["rules"], binding=404), [ROLE, BINDING]) == ["ValidatingAdmissionPolicyBinding b"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the action against a server."""

    def made(ask: Any) -> dict[str, Any]:
        args = {"objects": [ROLE], "kubeconfig": "/k", "repair": "apply it"}
        task = MagicMock(args=args, check_mode=True, async_val=0)
        action = ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
        monkeypatch.setattr(installer_rights, "connect", lambda path: ask)
        monkeypatch.setattr(installer_rights.ActionBase, "run", lambda *args: {})
        return action.run(task_vars={})

    return made


def test_a_run_without_its_rights_ends_with_the_repair(run: Any) -> None:
    found = run(server([]))
    assert (found["failed"], found["changed"]) == (True, False)
    assert found["msg"].endswith("gives a run: get and patch namespaces chem; apply it")
    assert run(server(ROLE["rules"])) == {"changed": False, "missing": []}


def test_a_refusal_ends_with_the_repair_too(run: Any) -> None:
    def refuses(*_: Any) -> Any:
        raise DeviceError("the API server does not answer")

    assert run(refuses)["msg"] == "the API server does not answer; apply it"
