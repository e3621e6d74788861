# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.plan import (
    ENABLE,
    RELEASE,
    REMOVE_STATE,
    RESTART,
    WRITE,
    AddFlag,
    KubeletState,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.text import render

WANT = KubeletState(render({"topologyManagerPolicy": "best-effort"}), enabled=True, running=True, current=True)
STOPPED = KubeletState((), enabled=False, running=False, current=False)
BARE = replace(STOPPED, member=False)
OTHER = replace(WANT, lines_of_file=render({"topologyManagerPolicy": "restricted"}))


@pytest.mark.parametrize(
    ("have", "payloads"),
    [
        (WANT, []),
        (STOPPED, [WRITE, ENABLE, RESTART]),
        (OTHER, [WRITE, RESTART]),
        (replace(WANT, current=False), [RESTART]),
        (replace(WANT, running=False, current=False), [RESTART]),
        (replace(WANT, enabled=False), [ENABLE]),
        (replace(WANT, missing_flag="unit"), [AddFlag("unit"), RESTART]),
        (replace(WANT, held=True), [RELEASE]),
        (replace(WANT, held=True, current=False, outdated=("cpu_manager_state",)), [RESTART]),
    ],
)
def test_only_what_differs_is_done(have: KubeletState, payloads: list[str]) -> None:
    steps = plan(have, WANT)
    assert [step.payload for step in steps] == payloads
    for step in steps:
        have = step.becomes(have)
    assert have == WANT


def test_a_change_is_told_by_key() -> None:
    step = plan(OTHER, WANT)[0]
    assert step.reason == 'change the drop-in: topologyManagerPolicy "restricted" -> "best-effort"'


def test_under_a_job_everything_waits_even_the_file() -> None:
    steps = plan(OTHER, WANT)
    assert [step.payload for step in steps] == [WRITE, RESTART]
    assert all(step.disturbs for step in steps)


def test_a_kubelet_that_is_down_is_started_whoever_uses_the_node() -> None:
    (step,) = plan(replace(WANT, running=False, current=False), WANT)
    assert (step.reason, step.disturbs) == ("start the kubelet", False)


@pytest.mark.parametrize("down", [OTHER, replace(WANT, outdated=("cpu_manager_state",))])
def test_under_a_job_one_that_is_down_is_not_started_as_another(down: KubeletState) -> None:
    """Its pods run on without it, and would lose what its state files say of them."""
    steps = plan(replace(down, running=False, current=False), WANT)
    assert steps
    assert all(step.disturbs for step in steps)


def test_state_files_that_go_are_named() -> None:
    assert plan(replace(WANT, current=False, outdated=("a", "b")), WANT)[0].reason == (
        "drain the node, restart the kubelet with it, resume; remove a, b"
    )
    assert plan(replace(WANT, running=False, outdated=("a",)), WANT)[0].reason == (
        "drain the node, start the kubelet with it, resume; remove a"
    )


def test_our_own_drain_ends_whoever_uses_the_node() -> None:
    assert [step.disturbs for step in plan(replace(WANT, held=True), WANT)] == [False]


def test_who_makes_a_host_a_member_starts_its_kubelet() -> None:
    """With the drop-in there at its first start: else a new node would start twice, and the second time on a drain."""
    steps = plan(BARE, WANT)
    assert [step.payload for step in steps] == [WRITE]
    assert plan(steps[0].becomes(BARE), WANT) == []
    assert [step.payload for step in plan(replace(BARE, running=True), WANT)] == [WRITE, ENABLE, RESTART]


def test_state_of_a_member_of_before_goes_first() -> None:
    again = replace(BARE, lines_of_file=WANT.lines_of_file, outdated=("cpu_manager_state",))
    (step,) = plan(again, WANT)
    assert (step.payload, step.reason) == (REMOVE_STATE, "remove cpu_manager_state")
    assert plan(step.becomes(again), WANT) == []
