# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.action.project_objects import made

from tests.unit.module_utils.kube.project_objects.server import ALL, CLAIM, VOLUME, Server


def test_what_must_wait_is_a_warning_and_no_failure() -> None:
    server = Server("/api/v1/namespaces/atlas/persistentvolumeclaims/scratch")
    args = {"objects": ALL, "timeout_s": 0}
    assert made(server, args, check=False)["changed"]
    less = {"objects": [it for it in ALL if it not in (VOLUME, CLAIM)], "timeout_s": 0}
    assert made(server, less, check=False)["changed"]
    result = made(server, less, check=False)
    assert (result["changed"], result["failed"]) == (False, False)
    assert result["warnings"] == result["pending"] != []
