# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action import installer_rights
from ansible_collections.drawbridge.drawbridge.plugins.action.installer_rights import ActionModule, check
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

RULE = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "patch"], "resourceNames": ["chem"]}
ROLE = {"kind": "ClusterRole", "metadata": {"name": "drawbridge-installer"}, "rules": [RULE]}
GATES = {"kind": "ClusterRole", "metadata": {"name": "drawbridge-opener"}, "rules": [{**RULE, "verbs": ["list"]}]}
BINDING = {"kind": "RoleBinding", "metadata": {"name": "b", "namespace": "chem"}, "subjects": []}


def server(rules: Any, *there: dict[str, Any]) -> Any:
    """An API server with these objects, where these rules are in force."""

    def ask(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        if method == "GET":
            return 200, {"items": [it for it in there if path.endswith(f"/{it['kind'].lower()}s")]}
        return 201, {"status": {"resourceRules": rules}}

    return ask


def test_the_rights_of_the_gate_are_not_the_installers() -> None:
    assert check(server([RULE], GATES, BINDING), [ROLE, GATES, BINDING]) == []


def test_missing_rights_and_objects_are_named() -> None:
    assert check(server([]), [ROLE, GATES]) == ["get and patch namespaces chem"]
    assert check(server([RULE]), [ROLE, GATES, BINDING]) == ["ClusterRole drawbridge-opener", "RoleBinding chem/b"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the action against a server."""

    def made(ask: Any) -> dict[str, Any]:
        args = {"objects": [ROLE], "manifest": "m.yml", "kubeconfig": "/k", "repair": "apply it"}
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
    assert run(server([RULE], ROLE)) == {"changed": False, "missing": []}


def test_rights_that_are_too_many_are_a_warning(run: Any) -> None:
    more = {**ROLE, "rules": [RULE, {**RULE, "resources": ["secrets"]}]}
    found = run(server([*more["rules"]], more))
    assert found["missing"] == [] and not found.get("failed")
    needless = "a run has rights that the intent does not need, in ClusterRole drawbridge-installer: apply it"
    assert found["warnings"] == [needless]


def test_a_refusal_ends_with_the_repair_too(run: Any) -> None:
    def refuses(*_: Any) -> Any:
        raise DeviceError("the API server does not answer")

    assert run(refuses)["msg"] == "the API server does not answer; apply it"
