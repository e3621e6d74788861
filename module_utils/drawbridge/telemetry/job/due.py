# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which jobs get their report now, and the note from one run of the timer to the next. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .queries import LEAST_S
from .text import OWN, Job

LOOK_BACK_S = 3600
"""A job whose end reaches accounting later, or which waits longer for Prometheus, gets no report."""
SETTLE_S = 120
"""Prometheus has the last samples of a job then, and accounting the last changes of slurmctld."""
MOST_JOBS = 50
"""Reports of one run."""


def key(job: Job) -> str:
    """One end of a job: a job that was requeued ends again."""
    return f"{job.name} {job.ended:.0f}"


@dataclass(frozen=True)
class Note:
    """What earlier runs did."""

    since: float
    """The first run. Jobs that ended before get no report."""
    done: Mapping[str, float] = field(default_factory=dict)
    """Ends that were seen to, with their times."""

    @classmethod
    def read(cls, text: str, now: float) -> Note:
        """The note of a file. A missing or broken one begins now."""
        try:
            said = json.loads(text)
            return cls(float(said["since"]), {str(name): float(end) for name, end in said["done"].items()})
        except (ValueError, LookupError, TypeError, AttributeError):
            return cls(now)

    def text(self, done: Iterable[Job], now: float) -> str:
        """The note after a run, without ends that no later run looks at."""
        ends = {**self.done, **{key(job): job.ended for job in done}}
        kept = {name: end for name, end in sorted(ends.items()) if end > now - LOOK_BACK_S - SETTLE_S}
        return json.dumps({"since": self.since, "done": kept})


def due(jobs: Iterable[Job], note: Note, now: float) -> list[Job]:
    """Jobs that get a report, the earliest end first.

    A comment of the gate or of a person stays: such jobs get none.
    """
    found = [
        job
        for job in jobs
        if job.over and job.nodes and note.since < job.ended <= now - SETTLE_S and key(job) not in note.done
        if job.run_s(now) >= LEAST_S and (not job.comment or job.comment.startswith(OWN))
    ]
    return sorted(found, key=lambda job: job.ended)
