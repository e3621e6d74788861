# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.gate_token import ActionModule
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils import controller_side, gate_token

ARGS = {
    "path": "/var/lib/drawbridge/gate/node.token",
    "namespace": "drawbridge-nodes",
    "name": "gpu01",
    "api_server": "https://api:6443",
    "ca_file": "/ca.crt",
    "kubeconfig": "/admin.kubeconfig",
}
GOOD, NEEDED = ({"changed": False, "steps": []}, {"changed": True, "steps": ["write a token"]})


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the action against a host that answers as told; returns what it sent there, and the token requests."""

    def made(look: dict[str, Any], check_mode: bool = False) -> tuple[list[dict[str, Any]], list[str]]:
        sent, asked = [], []
        task = MagicMock(args=dict(ARGS), check_mode=check_mode, async_val=0)
        action = ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())

        def execute(name: str, args: dict[str, Any], task_vars: Any = None) -> dict[str, Any]:
            sent.append({**args, "check": task.check_mode})
            return look

        monkeypatch.setattr(action, "_execute_module", execute)

        def ask(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
            asked.append(path)
            assert (method, body["spec"]) == ("POST", {"audiences": [], "expirationSeconds": 86400})
            return 201, {"status": {"token": "fresh"}}

        monkeypatch.setattr(gate_token, "connect", lambda path: ask if path == ARGS["kubeconfig"] else None)
        monkeypatch.setattr(controller_side.ActionBase, "run", lambda *args: {})
        action.run(task_vars={})
        return sent, asked

    return made


@pytest.mark.parametrize(
    ("look", "check_mode"), [(GOOD, False), (NEEDED, True), ({"failed": True, "msg": "no"}, False)]
)
def test_a_good_token_a_prediction_and_a_failure_cost_a_look(run: Any, look: dict[str, Any], check_mode: bool) -> None:
    sent, asked = run(look, check_mode=check_mode)
    assert (len(sent), asked) == (1, [])
    assert "token" not in sent[0] and sent[0]["check"]


def test_a_missing_one_is_requested_and_handed_over_without_the_kubeconfig(run: Any) -> None:
    sent, asked = run(NEEDED)
    assert asked == ["/api/v1/namespaces/drawbridge-nodes/serviceaccounts/gpu01/token"]
    assert (sent[1]["token"], sent[1]["check"]) == ("fresh", False)
    assert not any("kubeconfig" in args for args in sent)


def test_a_refusal_is_reported_with_the_account() -> None:
    options = {**ARGS, "lifetime_s": 600}
    with pytest.raises(DeviceError, match="no token of ServiceAccount drawbridge-nodes/gpu01: policy says no"):
        gate_token.request(lambda *_: (422, {"message": "policy says no"}), options)
