# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters of starts and ends of jobs, from one look at Slurm to the next. Pure.

A job is known by number and start, because a requeued job keeps its number. The first look counts no job.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .slurm_text import Job

WAITING = ("PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "REVOKED")
RUNNING = ("RUNNING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT", "POWER_UP_NODE")
"""States of a job that has its nodes and is not over. Those of neither list are ends."""
ENDED = ""


@dataclass(frozen=True)
class Count:
    """Counters of a partition since the first look."""

    starts: int = 0
    wait_s: float = 0
    ends: int = 0
    run_s: float = 0

    def started(self, wait_s: float) -> Count:
        """With one more start."""
        return Count(self.starts + 1, self.wait_s + max(wait_s, 0), self.ends, self.run_s)

    def ended(self, run_s: float) -> Count:
        """With one more end."""
        return Count(self.starts, self.wait_s, self.ends + 1, self.run_s + max(run_s, 0))


@dataclass(frozen=True)
class Note:
    """What one look leaves for the next."""

    seen: float = 0
    """Time of the look; 0: there was none."""
    counts: Mapping[str, Count] = field(default_factory=dict)
    """By partition."""
    jobs: Mapping[str, str] = field(default_factory=dict)
    """Partitions of jobs that had started, or ENDED, by number and start."""

    def text(self) -> str:
        """As JSON."""
        counts = {name: [it.starts, it.wait_s, it.ends, it.run_s] for name, it in self.counts.items()}
        return json.dumps({"seen": self.seen, "counts": counts, "jobs": dict(self.jobs)})

    @staticmethod
    def parse(text: str) -> Note:
        """A note of text(). Raises ValueError."""
        try:
            shown: dict[str, Any] = json.loads(text)
            counts = {name: Count(*values) for name, values in shown["counts"].items()}
            return Note(float(shown["seen"]), counts, dict(shown["jobs"]))
        except (LookupError, TypeError, AttributeError) as err:
            raise ValueError(f"not a note: {err}") from err


def looked(note: Note, jobs: Iterable[Job], now: float) -> Note:
    """The note after a look at all jobs that slurmctld has."""
    counts, found = dict(note.counts), dict[str, str]()
    for job in jobs:
        if job.start is None or not job.nodes or job.state in WAITING:
            continue
        key, runs = f"{job.number} {job.start:.0f}", job.state in RUNNING
        found[key] = job.partition if runs else ENDED
        before = note.jobs.get(key)
        if note.seen:
            counts[job.partition] = _counted(counts.get(job.partition, Count()), before, job, job.start, runs)
    for key, partition in note.jobs.items():
        if partition and key not in found:  # slurmctld forgot the job, or started it again
            start = float(key.split()[1])
            counts[partition] = counts.get(partition, Count()).ended(note.seen - start)
    return Note(now, counts, found)


def _counted(count: Count, before: str | None, job: Job, start: float, runs: bool) -> Count:
    """With the start and the end of a job, as far as they are new."""
    if before is None:
        count = count.started(start - (start if job.eligible is None else job.eligible))
    if not runs and before != ENDED:
        count = count.ended((start if job.end is None else job.end) - start)
    return count
