# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Requeue, hold or end a job whose nodes could not be opened. Pure.

Slurm itself requeues a batch job whose PrologSlurmctld failed, with a start time two minutes later. Slurm counts all
requeues of a job; the gate counts its own in the job's AdminComment, which survives a requeue.
"""

from __future__ import annotations

import re

from .slurm import REASON, JobInfo

REQUEUE, HOLD, END = "requeue", "hold", "end"
NEVER = -2  # lower than any run - 1


def verdict(job: JobInfo, number: int, tries: int) -> str:
    """A job that can't be requeued ends; a job that failed `tries` times in a row is held."""
    if not (job.batch and job.requeue):
        return END
    return HOLD if number >= tries else REQUEUE


def count(comment: str, restart: int) -> int:
    """Number of this try in a row, from the last try's comment. A repeated try keeps its number."""
    number, run = _last(comment)
    if run == restart:
        return number
    return number + 1 if run == restart - 1 else 1


def tried(comment: str, restart: int) -> bool:
    """Whether the comment is of this run's failed start. Slurm gives some epilogs the next run's number."""
    return _last(comment)[1] in (restart, restart - 1)


def _last(comment: str) -> tuple[int, int]:
    last = re.search(rf"{REASON}try ([0-9]+) of [0-9]+ \(run ([0-9]+)\)", comment)
    return (int(last.group(1)), int(last.group(2))) if last else (0, NEVER)


def explain(cause: str, number: int, tries: int, restart: int) -> str:
    """The cause of a failed try, with what `count` reads."""
    return f"try {number} of {tries} (run {restart}): {cause}"


def comment(before: str, text: str) -> str:
    """The AdminComment with the gate's text replaced; a person's text stays in front of it."""
    person = before.partition(REASON)[0].rstrip(" |")
    return f"{person} | {REASON}{text}" if person else f"{REASON}{text}"
