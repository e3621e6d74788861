# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.maintenance.plan import (
    WaveState,
    failure_of,
    plan,
    plan_failure,
    reason_of,
    wanted,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.maintenance.view import Group
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.new_plan import ABSENT, DRAIN
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.ready_plan import NodeState

NAME = "2026-11-kernel"
REASON = reason_of(NAME, "2026-11-25T18:00")
HALF = [Group("partition ai-train", ("gpu01", "gpu02", "gpu03", "gpu04"), 2)]


def idle(*names: str, down: frozenset[str] = frozenset()) -> WaveState:
    return WaveState({name: NodeState(name, "IDLE") for name in names}, down)


def pending(have: WaveState, groups: list[Group]) -> dict[str, str]:
    return {step.payload: step.pending for step in plan(have, wanted(list(have.nodes), REASON), NAME, groups)}


def test_nodes_out_of_service_elsewhere_count_for_the_limit() -> None:
    told = pending(idle("gpu01", "gpu02", down=frozenset({"gpu04"})), HALF)
    assert told["gpu01"] == ""
    assert told["gpu02"] == "partition ai-train has 2 nodes out of service, and at most 2 may be"


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (NodeState("gpu01", ABSENT), "onboard it first"),
        (NodeState("gpu01", "IDLE", DRAIN, reason="fan [ops@now]"), "drained already (fan [ops@now])"),
        (NodeState("gpu01", "IDLE", DRAIN, reason=f"{reason_of(NAME + '2', 'now')} [root@now]"), "drained already"),
        (NodeState("gpu01", "DOWN", reason="Not responding [slurm@now]"), "repair it first"),
    ],
)
def test_a_node_that_another_reason_keeps_out_of_service_is_left_alone(node: NodeState, words: str) -> None:
    assert words in pending(WaveState({"gpu01": node}), [])["gpu01"]


def test_a_failed_node_tells_its_cause_in_one_line() -> None:
    reason = failure_of(NAME, "Reboot the node:\n  timed out" + " again" * 100)
    assert reason.startswith(f"drawbridge: maintenance {NAME} failed: Reboot the node: timed out again")
    assert len(reason) == 200
    have = WaveState({"gpu01": NodeState("gpu01", "IDLE", DRAIN, reason=f"{REASON} [root@now]")})
    (step,) = plan_failure(have, wanted(["gpu01"], reason))
    assert plan_failure(step.becomes(have), wanted(["gpu01"], reason)) == []
    # a later run of the same maintenance goes on with it
    assert plan(step.becomes(have), wanted(["gpu01"], REASON), NAME, HALF) == []


def test_nodes_that_are_reserved_for_maintenance_are_taken_and_count_for_no_limit() -> None:
    reserved = {name: NodeState(name, "IDLE", frozenset({"MAINTENANCE"})) for name in ("gpu01", "gpu02")}
    assert pending(WaveState(reserved), HALF) == {"gpu01": "", "gpu02": ""}
