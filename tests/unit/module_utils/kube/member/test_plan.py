# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.plan import (
    NO_MEMBER,
    MemberState,
    leave,
    plan,
)

DAEMON = DaemonState("kubelet.service", {"/a": Entry("a")})
WANT = MemberState(DAEMON, True, True)
BARE = MemberState(replace(DAEMON, files={}, enabled=False, active=False), False, False, "it has no certificate")
JOIN = "join the cluster: it has no certificate"
SERVE = "get a serving certificate that the cluster has signed: it ends"


@pytest.mark.parametrize(
    ("have", "reasons"),
    [
        (WANT, []),
        (BARE, ["write /a", "enable kubelet.service", JOIN]),
        (replace(WANT, member=False, kubelet_serving_cert=False, why="it has no certificate"), [JOIN]),
        (replace(WANT, kubelet_serving_cert=False, why="it ends"), [SERVE]),
        (
            replace(WANT, daemon=replace(DAEMON, current=False)),
            ["restart kubelet.service, which runs with older files"],
        ),
        (
            replace(WANT, daemon=replace(DAEMON, active=False), kubelet_serving_cert=False, why="it ends"),
            ["start kubelet.service", SERVE],
        ),
    ],
)
def test_only_what_differs_is_done(have: MemberState, reasons: list[str]) -> None:
    steps = plan(have, WANT)
    assert [step.reason for step in steps] == reasons
    for step in steps:
        have = step.becomes(have)
    assert have == WANT


def test_a_job_is_not_disturbed() -> None:
    stale = replace(WANT, daemon=replace(DAEMON, current=False))
    assert [step.disturbs for step in plan(stale, WANT)] == [True]
    assert [step.disturbs for step in plan(replace(WANT, kubelet_serving_cert=False), WANT)] == [True]
    gone = replace(WANT, member=False, why="it has no certificate")
    assert [step.disturbs for step in plan(gone, WANT)] == [False]


def test_the_node_goes_before_its_kubelet() -> None:
    have, reasons = WANT, ["delete the Node", "stop the kubelet, and remove its identity"]
    steps = leave(have, NO_MEMBER)
    assert [(step.reason, step.disturbs) for step in steps] == [(reason, True) for reason in reasons]
    for step in steps:
        have = step.becomes(have)
    assert have == NO_MEMBER
    assert leave(NO_MEMBER, NO_MEMBER) == []


def test_a_token_that_a_killed_run_left_goes() -> None:
    have = replace(WANT, daemon=replace(DAEMON, files={**DAEMON.files, "/bootstrap": Entry("left over\n")}))
    assert [step.reason for step in plan(have, WANT)] == ["remove /bootstrap"]
    assert plan(have, WANT)[0].becomes(have) == WANT
    joining = replace(have, member=False, why="it has no certificate")
    assert [step.reason for step in plan(joining, WANT)] == [JOIN], "the next token replaces it"
