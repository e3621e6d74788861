# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.drawbridge.drawbridge.plugins.modules import gate_token_file

ARGS = {
    "path": "/nonexistent/node.token",
    "namespace": "drawbridge-nodes",
    "name": "gpu01",
    "api_server": "https://127.0.0.1:1",
    "ca_file": "/nonexistent",
}
STEP = "write a token of system:serviceaccount:drawbridge-nodes:gpu01: there is none"


def result(capfd: Any, **changes: Any) -> dict[str, Any]:
    with patch_module_args({**ARGS, **changes}), pytest.raises(SystemExit):
        gate_token_file.main()
    return json.loads(capfd.readouterr().out)


def test_a_missing_token_is_announced(capfd: Any) -> None:
    found = result(capfd)
    assert (found["changed"], found["steps"]) == (False, [])
    assert found["pending"] == [f"{STEP}: no token was handed over"]


def test_with_a_token_in_hand_it_is_predicted(capfd: Any) -> None:
    found = result(capfd, token="secret-of-this-test", _ansible_check_mode=True)
    assert (found["changed"], found["steps"], found["pending"]) == (True, [STEP], [])
    assert "secret-of-this-test" not in json.dumps(found["diff"])
