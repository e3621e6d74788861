# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.ready_plan import (
    HARDWARE,
    HEALTH,
    JOINING,
    NodeState,
    plan,
    ready,
)

WANT = ready("gpu01")


@pytest.mark.parametrize("state", ["IDLE", "MIXED", "ALLOCATED", "COMPLETING"])
def test_a_node_that_takes_or_runs_jobs_is_ready(state: str) -> None:
    assert plan(NodeState("gpu01", state, reason="what a drain left behind"), WANT) == []


@pytest.mark.parametrize(
    ("state", "flags", "reason"),
    [
        ("DOWN", (), "Not responding"),
        ("DOWN", (), "Node unexpectedly rebooted"),
        ("IDLE", ("DRAIN",), JOINING),
        ("DOWN", ("DRAIN",), JOINING),
        ("DOWN", ("DRAIN",), f"{JOINING} : Not responding"),
        ("IDLE", ("DRAIN",), f"{HARDWARE}: 7 GPUs instead of 8"),
        ("IDLE", ("DRAIN",), f"{HEALTH}: /gpfs/fs1 is not mounted"),
    ],
)
def test_a_proved_node_is_resumed(state: str, flags: tuple[str, ...], reason: str) -> None:
    have = NodeState("gpu01", state, frozenset(flags), reason=f"{reason} [slurm@2026-11-21T11:09:31]")
    (step,) = plan(have, WANT)
    assert (step.payload, step.pending) == ("resume", "")
    assert plan(step.becomes(have), WANT) == []


@pytest.mark.parametrize(
    "have",
    [
        NodeState("gpu01", "DOWN", reason=f"{JOINING} [root@now]"),
        NodeState("gpu01", "IDLE", frozenset({"DRAIN"}), reason=f"{JOINING}, says ops [ops@now]"),
        NodeState("gpu01", "IDLE", frozenset({"DRAIN"}), reason="drawbridge gate: not proven empty [root@now]"),
        NodeState("gpu01", "IDLE", frozenset({"DRAIN"}), reason="Not responding [root@now]"),
        NodeState("gpu01", "DOWN", frozenset({"DRAIN"}), reason="Not responding [slurm@now]"),
        NodeState("gpu01", "DOWN", reason="power work [ops@now]"),
        NodeState("gpu01", "DOWN", reason="Not responding [root@now]"),
        NodeState("gpu01", "DOWN", reason="Node unexpectedly rebooted, says ops [ops@now]"),
        NodeState("gpu01", "IDLE", frozenset({"MAINTENANCE"})),
    ],
)
def test_other_drains_are_only_reported(have: NodeState) -> None:
    (step,) = plan(have, WANT)
    assert "scontrol update nodename=gpu01 state=resume" in step.pending
    assert (have.reason or "none") in step.pending


def test_an_old_reason_is_no_line_of_the_diff() -> None:
    assert NodeState("gpu01", "IDLE", reason="old").lines() == WANT.lines()
    assert NodeState("gpu01", "DOWN", reason="x [ops]").lines() == ["NodeName=gpu01 State=DOWN Reason=x [ops]"]


def test_a_maintenance_lifts_its_own_drain_alone() -> None:
    have = NodeState(
        "gpu01", "IDLE", frozenset({"DRAIN"}), reason="drawbridge: maintenance kernel until 18:00 [root@now]"
    )
    (step,) = plan(have, WANT, maintenance="kernel")
    assert (step.reason, step.pending) == (
        "resume gpu01, which has had its maintenance kernel, and is proved ready",
        "",
    )
    for other in ("", "kern"):
        (step,) = plan(have, WANT, maintenance=other)
        assert step.pending
