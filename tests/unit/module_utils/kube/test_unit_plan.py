# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.unit_plan import plan

WANT = DaemonState("containerd.service", {"/a": Entry("a"), "/certs/x": Entry("x")}, passive=frozenset({"/certs/x"}))


def test_leftovers_go_without_a_restart() -> None:
    have = replace(WANT, files={**WANT.files, "/certs/old": Entry("old")})
    steps = plan(have, WANT)
    assert [step.reason for step in steps] == ["remove /certs/old"]
    assert steps[0].becomes(have) == WANT


def test_files_that_pulls_read_need_no_restart() -> None:
    have = replace(WANT, files={"/a": Entry("a")})
    assert [step.reason for step in plan(have, WANT)] == ["write /certs/x"]
