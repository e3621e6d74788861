# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes import ready_plan

WANT = ready_plan.ready("gpu01")


@pytest.mark.parametrize("state", ["IDLE", "MIXED", "ALLOCATED", "COMPLETING"])
def test_a_node_that_takes_or_runs_jobs_is_ready(state: str) -> None:
    assert ready_plan.plan(ready_plan.NodeState("gpu01", state, reason="what a drain left behind"), WANT) == []


@pytest.mark.parametrize(
    ("state", "flags", "reason"),
    [
        ("DOWN", (), "Not responding"),
        ("DOWN", (), "Node unexpectedly rebooted"),
        ("IDLE", ("DRAIN",), ready_plan.JOINING),
        ("DOWN", ("DRAIN",), ready_plan.JOINING),
        ("DOWN", ("DRAIN",), f"{ready_plan.JOINING} : Not responding"),
        ("IDLE", ("DRAIN",), f"{ready_plan.HARDWARE}: 7 GPUs instead of 8"),
        ("IDLE", ("DRAIN",), f"{ready_plan.HEALTH}: /gpfs/fs1 is not mounted"),
        ("IDLE", ("DRAIN",), "gres/gpu count reported lower than configured (0 < 2)"),
        ("IDLE", ("DRAIN",), "gres/gpu:h100 count too low (0 < 2)"),
    ],
)
def test_a_proved_node_is_resumed(state: str, flags: tuple[str, ...], reason: str) -> None:
    have = ready_plan.NodeState("gpu01", state, frozenset(flags), reason=f"{reason} [slurm@2026-11-21T11:09:31]")
    (step,) = ready_plan.plan(have, WANT)
    assert (step.payload, step.pending) == ("resume", "")
    assert ready_plan.plan(step.becomes(have), WANT) == []


@pytest.mark.parametrize(
    "have",
    [
        ready_plan.NodeState("gpu01", "DOWN", reason=f"{ready_plan.JOINING} [root@now]"),
        ready_plan.NodeState("gpu01", "IDLE", frozenset({"DRAIN"}), reason=f"{ready_plan.JOINING}, says ops [ops@now]"),
        ready_plan.NodeState(
            "gpu01", "IDLE", frozenset({"DRAIN"}), reason="drawbridge gate: not proven empty [root@now]"
        ),
        ready_plan.NodeState("gpu01", "IDLE", frozenset({"DRAIN"}), reason="Not responding [root@now]"),
        ready_plan.NodeState("gpu01", "DOWN", frozenset({"DRAIN"}), reason="Not responding [slurm@now]"),
        ready_plan.NodeState("gpu01", "DOWN", reason="power work [ops@now]"),
        ready_plan.NodeState("gpu01", "DOWN", reason="Not responding [root@now]"),
        ready_plan.NodeState("gpu01", "DOWN", reason="Node unexpectedly rebooted, says ops [ops@now]"),
        ready_plan.NodeState("gpu01", "IDLE", frozenset({"MAINTENANCE"})),
        ready_plan.NodeState(
            "gpu01", "IDLE", frozenset({"DRAIN", "INVALID_REG"}), reason="gres/gpu count too low (0 < 2) [slurm@now]"
        ),
        ready_plan.NodeState("gpu01", "IDLE", frozenset({"DRAIN"}), reason="gres/gpu count too low (0 < 2) [ada@now]"),
    ],
)
def test_other_drains_are_only_reported(have: ready_plan.NodeState) -> None:
    (step,) = ready_plan.plan(have, WANT)
    assert "scontrol update nodename=gpu01 state=resume" in step.pending
    assert (have.reason or "none") in step.pending


def test_an_old_reason_is_no_line_of_the_diff() -> None:
    assert ready_plan.NodeState("gpu01", "IDLE", reason="old").lines() == WANT.lines()
    assert ready_plan.NodeState("gpu01", "DOWN", reason="x [ops]").lines() == [
        "NodeName=gpu01 State=DOWN Reason=x [ops]"
    ]


def test_a_maintenance_lifts_its_own_drain_alone() -> None:
    have = ready_plan.NodeState(
        "gpu01", "IDLE", frozenset({"DRAIN"}), reason="drawbridge: maintenance kernel until 18:00 [root@now]"
    )
    (step,) = ready_plan.plan(have, WANT, maintenance="kernel")
    assert (step.reason, step.pending) == (
        "resume gpu01, which has had its maintenance kernel, and is proved ready",
        "",
    )
    for other in ("", "kern"):
        (step,) = ready_plan.plan(have, WANT, maintenance=other)
        assert step.pending


UNPROVED = ready_plan.NodeState("gpu01", "IDLE", unproved="it has no passport")
DRAINED = replace(UNPROVED, flags=frozenset({"DRAIN"}))
PROVE = "prove gpu01"


@pytest.mark.parametrize(
    ("reason", "maintenance"),
    [
        (ready_plan.JOINING, ""),
        (f"{ready_plan.HARDWARE}: 7 GPUs", ""),
        (f"{ready_plan.MAINTENANCE} kernel until 18:00", "kernel"),
    ],
)
def test_a_node_without_a_passport_stays_drained_until_it_is_proved(reason: str, maintenance: str) -> None:
    have = replace(DRAINED, reason=f"{reason} [root@now]")
    keep, waits = ready_plan.plan(have, WANT, maintenance, PROVE)
    assert (keep.payload, keep.pending) == ("drawbridge: health: 60-passport: it has no passport", "")
    assert waits.pending.endswith(f"; prove it: {PROVE}")
    after = keep.becomes(have)
    assert after.unavailable
    assert [step.pending for step in ready_plan.plan(after, WANT, maintenance, PROVE)] == [waits.pending]
    proved = replace(after, reason=f"{keep.payload} [root@now]", unproved="")
    assert [step.payload for step in ready_plan.plan(proved, WANT)] == [ready_plan.RESUME]


@pytest.mark.parametrize(
    ("have", "also"),
    [
        (UNPROVED, ""),
        (replace(DRAINED, reason="new fan [ada@now]"), ", and it is drained with the reason: new fan [ada@now]"),
        (replace(UNPROVED, state="DOWN", reason="Not responding [slurm@now]"), ""),
        (replace(DRAINED, reason=f"{ready_plan.PASSPORT}it has no passport [root@now]"), ""),
    ],
    ids=["in service", "a person's drain", "lost", "known"],
)
def test_what_others_say_of_a_node_without_a_passport_stays(have: ready_plan.NodeState, also: str) -> None:
    (waits,) = ready_plan.plan(have, WANT)
    assert waits.pending == f"it needs a valid passport (it has no passport){also}"
