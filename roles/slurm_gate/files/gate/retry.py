# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of a job whose nodes could not be opened. Pure.

Slurm itself requeues a batch job whose PrologSlurmctld failed, with a start time two minutes from then. It counts all
requeues of a job, whatever their cause; ours are counted here, in the job's AdminComment, which survives a requeue.
"""

from __future__ import annotations

import re

from .slurm import REASON, JobInfo

REQUEUE, HOLD, END = "requeue", "hold", "end"
NEVER = -2  # a run before the first, and before that one's too


def verdict(job: JobInfo, number: int, tries: int) -> str:
    """A job that can't run again ends with the cause; one that failed too often in a row waits for a person."""
    if not (job.batch and job.requeue):
        return END
    return HOLD if number >= tries else REQUEUE


def count(comment: str, restart: int) -> int:
    """Which try in a row this is, by the last one's comment. One that was killed and runs again is still the same."""
    number, run = _last(comment)
    if run == restart:
        return number
    return number + 1 if run == restart - 1 else 1


def tried(comment: str, restart: int) -> bool:
    """Whether the comment is of a try to open this run. Slurm tells some epilogs the number of the run to come."""
    return _last(comment)[1] in (restart, restart - 1)


def _last(comment: str) -> tuple[int, int]:
    """Number and run of the last failed try."""
    last = re.search(rf"{REASON}try ([0-9]+) of [0-9]+ \(run ([0-9]+)\)", comment)
    return (int(last.group(1)), int(last.group(2))) if last else (0, NEVER)


def explain(cause: str, number: int, tries: int, restart: int) -> str:
    """The cause of a failed try, with what `count` reads."""
    return f"try {number} of {tries} (run {restart}): {cause}"


def comment(before: str, text: str) -> str:
    """The AdminComment with our text in the place of our last one; a person's stays in front of it."""
    person = before.partition(REASON)[0].rstrip(" |")
    return f"{person} | {REASON}{text}" if person else f"{REASON}{text}"
