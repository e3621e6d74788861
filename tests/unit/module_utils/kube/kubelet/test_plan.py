# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.plan import (
    ENABLE,
    REMOVE_STATE,
    RESTART,
    RESUME,
    WRITE,
    AddFlag,
    KubeletState,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.text import render

from tests.unit.module_utils.steps import after

WANT = KubeletState(render({"topologyManagerPolicy": "best-effort"}), enabled=True, running=True, current=True)
STOPPED = KubeletState((), enabled=False, running=False, current=False)
BARE = replace(STOPPED, member=False)
OTHER = replace(WANT, lines_of_file=render({"topologyManagerPolicy": "restricted"}))
DOWN = replace(WANT, running=False, current=False)
CPU = ("cpu_manager_state",)


@pytest.mark.parametrize(
    ("have", "payloads", "waits"),
    [
        (WANT, [], False),
        (STOPPED, [WRITE, ENABLE, RESTART], True),
        (OTHER, [WRITE, RESTART], True),
        (replace(WANT, current=False), [RESTART], True),
        (DOWN, [RESTART], False),
        # its pods run on while it is down, and would lose what its state files say of them
        (replace(OTHER, running=False, current=False), [WRITE, RESTART], True),
        (replace(DOWN, outdated=CPU), [RESTART], True),
        (replace(WANT, enabled=False), [ENABLE], True),
        (replace(WANT, missing_flag="unit"), [AddFlag("unit"), RESTART], True),
        (replace(WANT, drained=True), [RESUME], False),
        (replace(WANT, drained=True, current=False, outdated=CPU), [RESTART], True),
        (replace(BARE, running=True), [WRITE, ENABLE, RESTART], True),
    ],
)
def test_under_a_job_everything_waits_even_the_file(have: KubeletState, payloads: list[str], waits: bool) -> None:
    steps = plan(have, WANT)
    assert [(step.payload, step.disturbs) for step in steps] == [(payload, waits) for payload in payloads]
    assert after(steps, have) == WANT


@pytest.mark.parametrize(
    ("have", "reason"),
    [
        (OTHER, 'change the drop-in: topologyManagerPolicy "restricted" -> "best-effort"'),
        (DOWN, "start the kubelet"),
        (
            replace(WANT, current=False, outdated=("a", "b")),
            "drain the node, restart the kubelet with it, resume; remove a, b",
        ),
        (
            replace(WANT, running=False, outdated=CPU),
            f"drain the node, start the kubelet with it, resume; remove {CPU[0]}",
        ),
    ],
)
def test_a_change_names_its_keys_and_the_state_files_that_it_removes(have: KubeletState, reason: str) -> None:
    assert plan(have, WANT)[0].reason == reason


@pytest.mark.parametrize(
    ("have", "payload", "reason"),
    [
        (BARE, WRITE, "write the drop-in with 3 keys"),
        (replace(BARE, lines_of_file=WANT.lines_of_file, outdated=CPU), REMOVE_STATE, f"remove {CPU[0]}"),
    ],
)
def test_who_makes_a_host_a_member_starts_its_kubelet(have: KubeletState, payload: str, reason: str) -> None:
    """With the drop-in there at its first start: else a new node would start twice, and the second time on a drain."""
    (step,) = plan(have, WANT)
    assert (step.payload, step.reason) == (payload, reason)
    assert plan(step.becomes(have), WANT) == []
