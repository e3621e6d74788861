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

from tests.unit.module_utils.steps import after

DAEMON = DaemonState("kubelet.service", {"/a": Entry("a")})
WANT = MemberState(DAEMON, True, True)
BARE = MemberState(replace(DAEMON, files={}, enabled=False, active=False), False, False, "it has no certificate")
JOIN = "join the cluster: it has no certificate"
RESTART = "restart kubelet.service, which runs with older files"
STOPPED = replace(WANT, daemon=replace(DAEMON, active=False), kubelet_serving_cert=False, why="it ends")
SERVE = "get a serving certificate that the cluster has signed: it ends"


@pytest.mark.parametrize(
    ("have", "reasons", "disturbs"),
    [
        (WANT, [], []),
        (BARE, ["write /a", "enable kubelet.service", JOIN], [False] * 3),
        (replace(WANT, member=False, kubelet_serving_cert=False, why="it has no certificate"), [JOIN], [False]),
        (replace(WANT, kubelet_serving_cert=False, why="it ends"), [SERVE], [True]),
        (replace(WANT, daemon=replace(DAEMON, current=False)), [RESTART], [True]),
        (STOPPED, ["start kubelet.service", SERVE], [False] * 2),
    ],
)
def test_only_what_differs_is_done_and_a_job_is_not_disturbed(
    have: MemberState, reasons: list[str], disturbs: list[bool]
) -> None:
    steps = plan(have, WANT)
    assert [step.reason for step in steps] == reasons
    assert [step.disturbs for step in steps] == disturbs
    assert after(steps, have) == WANT


def test_the_node_goes_before_its_kubelet() -> None:
    reasons = ["delete the Node", "stop the kubelet, and remove its identity"]
    steps = leave(WANT, NO_MEMBER)
    assert [(step.reason, step.disturbs) for step in steps] == [(reason, True) for reason in reasons]
    assert after(steps, WANT) == NO_MEMBER
    assert leave(NO_MEMBER, NO_MEMBER) == []


def test_a_token_that_a_killed_run_left_goes() -> None:
    have = replace(WANT, daemon=replace(DAEMON, files={**DAEMON.files, "/bootstrap": Entry("left over\n")}))
    assert [step.reason for step in plan(have, WANT)] == ["remove /bootstrap"]
    assert plan(have, WANT)[0].becomes(have) == WANT
    joining = replace(have, member=False, why="it has no certificate")
    assert [step.reason for step in plan(joining, WANT)] == [JOIN], "the next token replaces it"
