# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.leave_plan import (
    GATE,
    MUNGE,
    SECRETS,
    SLURMD,
    MemberState,
    plan,
)

from tests.unit.module_utils.steps import after

MEMBER = MemberState((GATE, SLURMD, MUNGE), SECRETS)
GONE = MemberState()


def test_daemons_stop_before_their_secrets_go() -> None:
    steps = plan(MEMBER, GONE)
    assert [step.payload[0] for step in steps] == ["stop", "stop", "stop", "remove", "remove"]
    assert after(steps, MEMBER) == GONE
    assert plan(GONE, GONE) == []


def test_a_node_in_use_stays_a_member() -> None:
    assert {step.pending for step in plan(MEMBER, GONE, "job 7")} == {"job 7"}
    assert plan(GONE, GONE, "job 7") == []
