# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Samples of one look at Slurm. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..core import hostlist
from ..nodes.drain_origins import origin
from .exposition import Sample
from .slurm_note import RUNNING, Count
from .slurm_text import Job, Node, Scheduler

_PREFIX = "drawbridge_slurm_"
_NODE_STATE, _NODE_JOB = f"{_PREFIX}node_state_info", f"{_PREFIX}node_job_info"
NODE_STATES = ("idle", "mixed", "allocated", "draining", "drained", "down")
JOB_STATES = ("pending", "running")
"""States with a sample also when there is no such node or job."""
QUEUED = frozenset({"PENDING", "COMPLETING", "REQUEUED", *RUNNING})
"""States of jobs that are not over."""


@dataclass(frozen=True)
class Look:
    """All that Slurm's tools print at one time."""

    nodes: Sequence[Node]
    jobs: Sequence[Job]
    scheduler: Scheduler
    time: float
    slurm_user: str = "slurm"


def silent() -> list[Sample]:
    """If slurmctld does not answer: no old value may look like a new one."""
    return [_sample("up", 0)]


def samples(look: Look, counts: Mapping[str, Count]) -> Iterator[Sample]:
    """All samples, in no order."""
    names = {*counts, *(name for node in look.nodes for name in node.partitions)}
    names |= {job.partition for job in look.jobs if job.state in QUEUED}
    partitions = sorted(names)
    yield _sample("up", 1)
    yield _sample("read_timestamp_seconds", look.time)
    yield from _of_nodes(look)
    yield from _of_jobs(look, partitions)
    for name in partitions:
        yield from _of_counts(name, counts.get(name, Count()))
    yield from _of_scheduler(look.scheduler)


def _sample(name: str, value: float, **labels: str) -> Sample:
    return Sample(f"{_PREFIX}{name}", labels, value)


def _of_nodes(look: Look) -> Iterator[Sample]:
    for node in look.nodes:
        yield Sample(_NODE_STATE, {"node": node.name, "state": node.state}, 1)
        if node.drained:
            part = origin(node.reason, node.by, look.slurm_user)
            yield _sample("node_drained_info", 1, node=node.name, origin=part, reason=node.reason)
            if node.since is not None:
                yield _sample("node_drained_since_timestamp_seconds", node.since, node=node.name)
    counted = Counter(node.state for node in look.nodes)
    for state in dict.fromkeys([*NODE_STATES, *sorted(counted)]):
        yield _sample("nodes", counted[state], state=state)


def _of_jobs(look: Look, partitions: Iterable[str]) -> Iterator[Sample]:
    counted: Counter[tuple[str, str]] = Counter({(name, state): 0 for name in partitions for state in JOB_STATES})
    oldest = dict.fromkeys(partitions, look.time)
    for job in look.jobs:
        if job.state in QUEUED:
            counted[job.partition, job.state.lower()] += 1
        if job.state == "PENDING" and not job.held and job.eligible is not None:
            oldest[job.partition] = min(oldest[job.partition], job.eligible)
        elif job.state in RUNNING and job.nodes:
            labels = {"job": job.number, "user": job.user, "account": job.account, "partition": job.partition}
            for name in hostlist.expanded(job.nodes):
                yield Sample(_NODE_JOB, {"node": name, **labels}, 1)
    for (name, state), number in sorted(counted.items()):
        yield _sample("jobs", number, partition=name, state=state)
    for name, eligible in oldest.items():
        yield _sample("oldest_pending_seconds", look.time - eligible, partition=name)


def _of_counts(name: str, count: Count) -> Iterator[Sample]:
    yield _sample("job_starts_total", count.starts, partition=name)
    yield _sample("job_wait_seconds_total", count.wait_s, partition=name)
    yield _sample("job_ends_total", count.ends, partition=name)
    yield _sample("job_run_seconds_total", count.run_s, partition=name)


def _of_scheduler(scheduler: Scheduler) -> Iterator[Sample]:
    """A number that sdiag does not print has no sample."""
    values = {
        "started_jobs_total": scheduler.started,
        "backfilled_jobs_total": scheduler.backfilled,
        "backfill_cycle_seconds": scheduler.backfill_cycle_s,
        "backfill_queue_length": scheduler.backfill_queue,
        "scheduler_cycle_seconds": scheduler.cycle_s,
    }
    for name, value in values.items():
        if value is not None:
            yield _sample(name, value)
