# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from tests.explorer.model import explore
from tests.explorer.plan import NODES, Event, JobSpec, Plan, plan_of
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


@pytest.mark.parametrize("partition", ["ai-train", "hpc"])
def test_beside_a_foreign_pod_no_job_begins(partition: str) -> None:
    pods = tuple(Event(0.5, "foreign pod", node, 90.0) for node in NODES)
    outcome = explore(plan(job(partition=partition, requeue=False), events=pods, over_at=100.0), keep=True)
    assert outcome.breaches == []
    assert not any(" works on " in line for line in outcome.lines)
    assert any("container c-foreign-" in line for line in outcome.lines)


def test_a_number_that_is_given_again_opens_nothing_while_its_first_owner_is_there() -> None:
    forgotten = Event(10.0, "forgotten, its number given again", 1, 0.3)
    outcome = explore(plan(job(works_s=90.0), events=(forgotten,), over_at=300.0), keep=True)
    text = "\n".join(outcome.lines)
    assert outcome.breaches == []
    assert "slurm-1-u2001-g2001 of another job with this number is still there" in text
    assert text.index("serviceaccounts/slurm-1-u2001-g2001 -> 200") < text.rindex('"event": "open"')


def test_infrastructure_may_hold_gpus() -> None:
    outcome = explore(replace(plan(job()), exporters=True), keep=True)
    assert outcome.breaches == []
    assert set(outcome.edges.values()) == {1}
    assert "c-exporter" in "\n".join(outcome.lines)


def test_the_trace_tells_what_happened() -> None:
    text = "\n".join(explore(plan(job(), events=(Event(10.0, "cancelled", 1),)), keep=True).lines)
    assert "scheduler" in text and "kubelet" in text and "job 1 (run 0) is over: CANCELLED" in text
    assert '"event": "close"' in text
