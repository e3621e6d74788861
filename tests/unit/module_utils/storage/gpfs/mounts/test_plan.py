# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import reduce

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.mounts.plan import (
    ClientState,
    leave,
    plan,
)

PATHS = {"fs1": "/gpfs/fs1", "scratch": "/gpfs/scratch"}
WANT = ClientState(PATHS)
TUNED = ClientState(PATHS, settings={"workerThreads": "1024"})


def test_what_is_mounted_in_its_place_stays() -> None:
    assert plan(WANT, WANT) == []


def test_only_what_is_missing_or_elsewhere_is_mounted() -> None:
    [step] = plan(ClientState({"fs1": "/gpfs/fs1", "scratch": "/mnt"}), WANT)
    assert (step.reason, step.payload) == (
        "mount scratch at /gpfs/scratch",
        ("mount", "scratch", "/gpfs/scratch"),
    )
    assert step.becomes(ClientState({"fs1": "/gpfs/fs1"})) == WANT


def test_other_file_systems_are_not_ours() -> None:
    assert plan(ClientState({**PATHS, "old": "/old"}), WANT) == []


def test_a_setting_that_is_not_in_effect_is_a_restart_that_disturbs_and_mounts_again() -> None:
    have = ClientState(PATHS, settings={"workerThreads": "48"}, configured={"workerThreads": "1024"})
    steps = plan(have, TUNED)
    assert [step.payload[0] for step in steps] == ["restart", "mount", "mount"]
    assert all(step.disturbs and not step.pending for step in steps)
    assert reduce(lambda state, step: step.becomes(state), steps, have) == TUNED


def test_a_restart_waits_for_a_cluster_that_has_not_got_the_setting() -> None:
    [step] = plan(ClientState(PATHS, settings={"workerThreads": "48"}), TUNED)
    assert "the cluster has not got workerThreads for this host's node class" in step.pending


def test_the_first_start_disturbs_nobody() -> None:
    steps = plan(ClientState({}, "down"), TUNED)
    assert [step.payload[0] for step in steps] == ["start", "mount", "mount"]
    assert not any(step.disturbs for step in steps)


def test_a_drain_of_an_earlier_run_is_lifted_last() -> None:
    assert [step.payload[0] for step in plan(ClientState({}, held=True), WANT)] == ["mount", "mount", "release"]


def test_a_node_in_use_does_not_leave() -> None:
    steps = leave(WANT, ClientState({}, "down"), "job 4711 runs")
    assert [step.payload[0] for step in steps] == ["unmount", "unmount", "stop"]
    assert {step.refused for step in steps} == {"job 4711 runs"}
