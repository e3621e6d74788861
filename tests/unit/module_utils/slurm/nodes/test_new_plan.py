# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.new_plan import (
    ABSENT,
    JOINING,
    RETIRING,
    NewNodes,
    NodeState,
    drained,
    plan,
    plan_retirement,
    retired,
)

WANT = drained(["gpu05"])


def nodes(state: str, *flags: str, reason: str = "") -> NewNodes:
    return NewNodes({"gpu05": NodeState("gpu05", state, frozenset(flags), reason=reason)})


@pytest.mark.parametrize(
    "have",
    [
        nodes(ABSENT),
        nodes("UNKNOWN", "NOT_RESPONDING"),
        nodes("IDLE", "NOT_RESPONDING"),
        nodes("DOWN", "NOT_RESPONDING", reason="Not responding [slurm@2026-11-21T11:09:31]"),
    ],
)
def test_a_node_that_does_not_answer_is_drained(have: NewNodes) -> None:
    (step,) = plan(have, WANT)
    assert (step.reason, step.pending) == ("keep jobs off gpu05 until it is proved ready", "")
    after = step.becomes(have)
    assert plan(after, WANT) == []
    assert JOINING in after.lines()[0]


@pytest.mark.parametrize("appended", ["", " : Not responding"])
def test_a_node_that_had_retired_gets_the_reason_that_its_proof_lifts(appended: str) -> None:
    have = nodes("DOWN", "DRAIN", "NOT_RESPONDING", reason=f"drawbridge: retires{appended} [root@now]")
    (step,) = plan(have, WANT)
    assert step.becomes(have).nodes["gpu05"].reason == JOINING


LEAVES = retired(["gpu05"])


@pytest.mark.parametrize("state", ["IDLE", "MIXED", "ALLOCATED", "DOWN", "UNKNOWN"])
def test_a_node_that_retires_is_drained_once(state: str) -> None:
    have = nodes(state)
    (step,) = plan_retirement(have, LEAVES)
    assert step.reason == "drain gpu05, which retires"
    after = step.becomes(have)
    assert after.nodes["gpu05"].reason == RETIRING
    assert plan_retirement(after, LEAVES) == []


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
def test_a_node_in_service_and_an_administrators_reason_stay(have: NewNodes, also_retiring: bool) -> None:
    assert plan(have, WANT) == []
    assert not also_retiring or plan_retirement(have, LEAVES) == plan_retirement(nodes(ABSENT), LEAVES) == []
