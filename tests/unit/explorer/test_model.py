# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.explorer.model import explore
from tests.explorer.plan import Event, JobSpec, Plan, plan_of
from tests.explorer.steps import targets


def job(at: float = 1.0, **fields: object) -> tuple[float, JobSpec]:
    return at, JobSpec()._replace(**fields)  # type: ignore[arg-type]


def plan(*jobs: tuple[float, JobSpec], events: tuple[Event, ...] = (), over_at: float = 60.0) -> Plan:
    return Plan(1, jobs, events, {}, over_at)


def test_a_schedule_runs_the_same_way_each_time() -> None:
    one, other = (explore(plan_of(11, targets()), keep=True).lines for _ in range(2))
    assert one == other
    assert len(one) > 50


@pytest.mark.parametrize("spec", [{}, {"nodes": 3, "pods": 3}, {"batch": False}, {"tidy": False}, {"pods": 0}])
def test_a_job_in_peace_gets_its_nodes_and_leaves_them_closed(spec: dict) -> None:
    outcome = explore(plan(job(**spec)))
    nodes = spec.get("nodes", 1)
    assert outcome.breaches == []
    assert set(outcome.edges.values()) == {nodes}
    assert not outcome.met


def test_a_job_of_another_partition_opens_nothing() -> None:
    outcome = explore(plan(job(partition="hpc")))
    assert (outcome.breaches, dict(outcome.edges)) == ([], {})


def test_the_trace_tells_what_happened() -> None:
    text = "\n".join(explore(plan(job(), events=(Event(10.0, "cancelled", 1),)), keep=True).lines)
    assert "scheduler" in text and "kubelet" in text and "job 1 (run 0) is over: CANCELLED" in text
    assert '"event": "close"' in text
