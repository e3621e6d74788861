# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes import leave_plan

from tests.unit.module_utils.steps import after

MEMBER = leave_plan.MemberState((leave_plan.GATE, leave_plan.SLURMD, leave_plan.MUNGE), leave_plan.SECRETS)
GONE = leave_plan.MemberState()


def test_daemons_stop_before_their_secrets_go() -> None:
    steps = leave_plan.plan(MEMBER, GONE)
    assert [step.payload[0] for step in steps] == ["stop", "stop", "stop", "remove", "remove"]
    assert after(steps, MEMBER) == GONE
    assert leave_plan.plan(GONE, GONE) == []


def test_a_node_in_use_stays_a_member() -> None:
    assert {step.pending for step in leave_plan.plan(MEMBER, GONE, "job 7")} == {"job 7"}
    assert leave_plan.plan(GONE, GONE, "job 7") == []
