# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.check_mode import unknown


@pytest.mark.parametrize("check", [True, False])
def test_what_is_missing_is_pending_in_check_mode_and_a_failure_otherwise(
    check: bool, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    monkeypatch.setattr(AnsibleModule, "warn", lambda _, text: warned.append(text))
    with patch_module_args({"_ansible_check_mode": check}), pytest.raises(SystemExit):
        unknown(AnsibleModule({}, supports_check_mode=True), "x.service is not installed yet", key="")
    result = json.loads(capfd.readouterr().out)
    assert not result["changed"]
    assert result.get("failed", False) is not check
    told = result["pending"] if check else [result["msg"]]
    assert told[0].startswith("x.service is not installed yet")
    assert warned == (told if check else [])
    assert result.get("key") == ("" if check else None)
