# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import Layer, Work
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.module import main_of


class Silent:
    name = "silent"

    def read(self) -> Any:
        raise DeviceError("silent does not answer", rc=7)

    def apply(self, steps: Any) -> None: ...


@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
def test_a_layer_leaves_as_ansible_wants_it(check: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[tuple[str, dict[str, Any]]] = []
    seen: list[bool] = []
    monkeypatch.setattr(AnsibleModule, "fail_json", lambda _, **result: left.append(("fail", result)))
    monkeypatch.setattr(AnsibleModule, "exit_json", lambda _, **result: left.append(("exit", result)))

    def work(params: Any, check: bool) -> Work[Any]:
        seen.append(check)
        return Work(Silent(), lambda have, want: [], None)

    with patch_module_args({"_ansible_check_mode": check}):
        main_of(Layer({}, work))
    assert left[0] == ("fail", {"changed": False, "msg": "silent does not answer", "rc": 7})
    assert seen == [check]
