# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mounts.plan import (
    ClientState,
    leave,
    plan,
)

from tests.unit.module_utils.steps import after

PATHS = {"fs1": "/gpfs/fs1", "scratch": "/gpfs/scratch"}
WANT = ClientState(PATHS)
MOUNTS = ["mount", "mount"]
OLD = {"workerThreads": "48"}
TUNED = ClientState(PATHS, settings={"workerThreads": "1024"})


@pytest.mark.parametrize(
    ("have", "want", "verbs", "disturbs"),
    [
        (ClientState({**PATHS, "old": "/old"}), WANT, [], False),
        (ClientState({**PATHS, "scratch": "/mnt"}), WANT, ["mount"], False),
        (replace(TUNED, settings=OLD, configured=TUNED.settings), TUNED, ["restart", *MOUNTS], True),
        (ClientState({}, "down"), TUNED, ["start", *MOUNTS], False),
        (ClientState({}, drained=True), WANT, [*MOUNTS, "resume"], False),
    ],
)
def test_only_what_differs_is_done(have: ClientState, want: ClientState, verbs: list[str], disturbs: bool) -> None:
    steps = plan(have, want)
    assert [(step.payload[0], step.disturbs, step.pending) for step in steps] == [(it, disturbs, "") for it in verbs]
    assert plan(after(steps, have), want) == []


def test_a_restart_waits_for_a_cluster_that_has_not_got_the_setting() -> None:
    [step] = plan(ClientState(PATHS, settings=OLD), TUNED)
    assert "the cluster has not got workerThreads for this host's node class" in step.pending


def test_a_node_in_use_does_not_leave() -> None:
    steps = leave(WANT, ClientState({}, "down"), "job 4711 runs")
    assert [step.payload[0] for step in steps] == ["unmount", "unmount", "stop"]
    assert {step.refused for step in steps} == {"job 4711 runs"}
