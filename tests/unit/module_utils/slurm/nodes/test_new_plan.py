# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.new_plan import (
    ABSENT,
    JOINING,
    NewNodes,
    NodeState,
    drained,
    plan,
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


@pytest.mark.parametrize("state", ["IDLE", "MIXED", "ALLOCATED", "COMPLETING"])
def test_a_node_that_answers_is_in_service(state: str) -> None:
    assert plan(nodes(state), WANT) == []


@pytest.mark.parametrize(
    "have",
    [
        nodes("UNKNOWN", "DRAIN", "NOT_RESPONDING", reason="power work [ops@now]"),
        nodes("DOWN", reason="power work [ops@now]"),
        nodes("DOWN", "NOT_RESPONDING", reason="Not responding [root@now]"),
    ],
)
def test_an_administrators_reason_stays(have: NewNodes) -> None:
    assert plan(have, WANT) == []


def test_a_node_that_had_retired_gets_the_reason_that_its_proof_lifts() -> None:
    have = nodes("DOWN", "DRAIN", "NOT_RESPONDING", reason="drawbridge: retires [root@now]")
    (step,) = plan(have, WANT)
    assert step.becomes(have).nodes["gpu05"].reason == JOINING
