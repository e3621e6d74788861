# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.new_plan import (
    ABSENT,
    JOINING,
    NewNodes,
    NodeState,
    kept_off,
    plan,
)

WANT = kept_off(["gpu05"])


def crew(state: str, *flags: str, reason: str = "") -> NewNodes:
    return NewNodes({"gpu05": NodeState("gpu05", state, frozenset(flags), reason=reason)})


@pytest.mark.parametrize(
    "have",
    [
        crew(ABSENT),
        crew("UNKNOWN", "NOT_RESPONDING"),
        crew("IDLE", "NOT_RESPONDING"),
        crew("DOWN", "NOT_RESPONDING", reason="Not responding [slurm@2026-11-21T11:09:31]"),
    ],
)
def test_who_is_not_there_gets_no_jobs(have: NewNodes) -> None:
    (step,) = plan(have, WANT)
    assert (step.reason, step.pending) == ("keep jobs off gpu05 until it has proved itself", "")
    after = step.becomes(have)
    assert plan(after, WANT) == []
    assert JOINING in after.lines()[0]


@pytest.mark.parametrize("state", ["IDLE", "MIXED", "ALLOCATED", "COMPLETING"])
def test_who_answers_is_in_service(state: str) -> None:
    assert plan(crew(state), WANT) == []


@pytest.mark.parametrize(
    "have",
    [
        crew("UNKNOWN", "DRAIN", "NOT_RESPONDING", reason="power work [ops@now]"),
        crew("DOWN", reason="power work [ops@now]"),
        crew("DOWN", "NOT_RESPONDING", reason="Not responding [root@now]"),
    ],
)
def test_a_reason_that_somebody_gave_stays(have: NewNodes) -> None:
    assert plan(have, WANT) == []


def test_each_node_is_its_own_step() -> None:
    have = NewNodes({**crew("IDLE").nodes, "gpu06": NodeState("gpu06", ABSENT), "gpu07": NodeState("gpu07", ABSENT)})
    assert [step.payload for step in plan(have, kept_off(["gpu05", "gpu06", "gpu07"]))] == ["gpu06", "gpu07"]
