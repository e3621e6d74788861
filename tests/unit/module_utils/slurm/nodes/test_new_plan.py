# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes import new_plan

WANT = new_plan.drained(["gpu05"])


def nodes(state: str, *flags: str, reason: str = "") -> new_plan.NewNodes:
    return new_plan.NewNodes({"gpu05": new_plan.NodeState("gpu05", state, frozenset(flags), reason=reason)})


@pytest.mark.parametrize(
    "have",
    [
        nodes(new_plan.ABSENT),
        nodes("UNKNOWN", "NOT_RESPONDING"),
        nodes("IDLE", "NOT_RESPONDING"),
        nodes("DOWN", "NOT_RESPONDING", reason="Not responding [slurm@2026-11-21T11:09:31]"),
    ],
)
def test_a_node_that_does_not_answer_is_drained(have: new_plan.NewNodes) -> None:
    (step,) = new_plan.plan(have, WANT)
    assert (step.reason, step.pending) == ("keep jobs off gpu05 until it is proved ready", "")
    after = step.becomes(have)
    assert new_plan.plan(after, WANT) == []
    assert new_plan.JOINING in after.lines()[0]


@pytest.mark.parametrize("appended", ["", " : Not responding"])
def test_a_node_that_had_retired_gets_the_reason_that_its_proof_lifts(appended: str) -> None:
    have = nodes("DOWN", "DRAIN", "NOT_RESPONDING", reason=f"drawbridge: retires{appended} [root@now]")
    (step,) = new_plan.plan(have, WANT)
    assert step.becomes(have).nodes["gpu05"].reason == new_plan.JOINING


LEAVES = new_plan.retired(["gpu05"])


@pytest.mark.parametrize("state", ["IDLE", "MIXED", "ALLOCATED", "DOWN", "UNKNOWN"])
def test_a_node_that_retires_is_drained_once(state: str) -> None:
    have = nodes(state)
    (step,) = new_plan.plan_retirement(have, LEAVES)
    assert step.reason == "drain gpu05, which retires"
    after = step.becomes(have)
    assert after.nodes["gpu05"].reason == new_plan.RETIRING
    assert new_plan.plan_retirement(after, LEAVES) == []


@pytest.mark.parametrize(
    ("have", "also_retiring"),
    [
        *((nodes(state), False) for state in ("IDLE", "MIXED", "ALLOCATED", "COMPLETING")),
        (nodes("UNKNOWN", "DRAIN", "NOT_RESPONDING", reason="power work [ops@now]"), True),
        (nodes("DOWN", reason="power work [ops@now]"), False),
        (nodes("DOWN", "NOT_RESPONDING", reason="Not responding [root@now]"), False),
        (nodes("IDLE", "DRAIN", reason="disk [ada@now]"), True),
        (nodes("DOWN", "DRAIN"), True),
    ],
)
def test_a_node_in_service_and_an_administrators_reason_stay(have: new_plan.NewNodes, also_retiring: bool) -> None:
    assert new_plan.plan(have, WANT) == []
    assert (
        not also_retiring
        or new_plan.plan_retirement(have, LEAVES) == new_plan.plan_retirement(nodes(new_plan.ABSENT), LEAVES) == []
    )
