# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The job's time limit. It can change, so Slurm is queried again before the limit acts."""

from __future__ import annotations

from ..gate.command import Commands
from ..gate.slurm import seconds

MARGIN_S = 15.0  # between the end of the pods' grace and Slurm's own signal
RETRY_S = 60.0  # if Slurm does not answer
NONE_S = 3600.0  # a job without a limit may get one later


class Limit:
    """The moment to end the pods, so that they have their grace before Slurm ends the job."""

    def __init__(self, job: int, grace_s: float, commands: Commands, now: float) -> None:
        self._job, self._before, self._commands = job, grace_s + MARGIN_S, commands
        self._at = now

    def reached(self, now: float) -> bool:
        """Whether that moment has come. Queries Slurm at the start and then."""
        if now < self._at:
            return False
        left = self._left()
        if left is not None and left <= self._before:
            return True
        self._at = now + (RETRY_S if left is None else min(left - self._before, NONE_S))
        return False

    def _left(self) -> float | None:
        """Seconds until the limit; None without an answer. For an array's number squeue prints other elements, too."""
        result = self._commands.run("squeue", "--noheader", f"--jobs={self._job}", "--format=%A %L")
        lines = dict(line.split() for line in result.out.splitlines() if len(line.split()) > 1)
        text = lines.get(str(self._job), "")
        if result.code or not text:
            return None
        return float(seconds(text)) if text[0].isdigit() else float("inf")
