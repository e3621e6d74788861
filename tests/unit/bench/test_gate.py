# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from bench import gate


def test_the_api_server_keeps_all_that_it_was_started_with() -> None:
    kept = gate.audited()
    assert kept.count("ExecStart=") == 2 and "--authorization-mode=Node,RBAC" in kept
    assert kept.endswith("--audit-log-path=/run/bench-audit.log\n")
