# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.modules import preflight_probe_host

from tests.unit.module_utils.preflight_site import SOUND, WANT


def test_the_answers_of_all_probes_are_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[dict[str, Any]] = []

    class Module:
        def __init__(self, **options: Any) -> None:
            assert options["supports_check_mode"]
            self.params = {"want": WANT}

        def exit_json(self, **result: Any) -> None:
            ends.append(result)

    monkeypatch.setattr(preflight_probe_host, "AnsibleModule", Module)
    monkeypatch.setattr(preflight_probe_host, "probe", lambda want: SOUND if want == WANT else {})
    preflight_probe_host.main()
    assert ends == [{"changed": False, "facts": SOUND}]
