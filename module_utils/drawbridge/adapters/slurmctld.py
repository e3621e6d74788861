# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurmctld: told to reconfigure, never restarted for a change of its files."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..converge import DeviceError, Step
from ..dialects.slurm_conf import same_hash
from ..plans.daemon import DaemonState
from . import files
from .command import Run
from .daemon import Daemon
from .unit import Unit, first_errors


class Slurmctld(Daemon):
    """The controller daemon, which itself tells the hash of the slurm.conf that it has read.

    The hash covers comments. slurm.conf names the digests of the other files in one, so it speaks for all of them.
    """

    def __init__(self, unit: Unit, want: DaemonState, run: Run, prolog_wait_s: float = 0.0) -> None:
        super().__init__(unit, want)
        self._run, self._prolog_wait_s = run, prolog_wait_s

    def is_current(self, started_s: float) -> bool:
        """Compare the daemon's own hash with that of the files as this host's commands read them."""
        try:
            return same_hash(self._run(["scontrol", "show", "config"]).out)
        except DeviceError:
            return False  # the file on disk can't be parsed, or nobody answers: both need another look by the daemon

    def busy(self) -> str:
        """Jobs whose prolog runs; a reconfigure now could lose their launch. They get a moment to finish."""
        deadline = time.monotonic() + self._prolog_wait_s
        while jobs := self._starting():
            if time.monotonic() >= deadline:
                return f"job {jobs[0]} is in its prolog, and a reconfigure could lose its launch; run again"
            time.sleep(0.5)
        return ""

    def _starting(self) -> list[str]:
        try:
            out = self._run(["squeue", "--noheader", "--states", "CF,R", "--format", "%i|%T|%r"]).out
        except DeviceError:
            return []  # nobody answers: slurmctld is down, or its file is broken; either way only a change helps
        rows = [line.split("|") for line in out.splitlines()]
        return [row[0] for row in rows if row[1] == "CONFIGURING" or row[2] == "Prolog"]

    def apply(self, steps: Sequence[Step[DaemonState]]) -> None:
        """Do the steps; when the daemon refuses the files, put the old ones back: clients read them at every call."""
        paths = [step.payload[1] for step in steps if step.payload[0] == "write"]
        old = {path: files.read(path) for path in paths}
        try:
            super().apply(steps)
        except DeviceError:
            for path, entry in old.items():
                if entry:
                    files.write(path, entry)
                elif self._want.files[path].content is not None:
                    files.remove(path)
            raise

    def refresh(self) -> None:
        """Reconfigure; a failure tells what the daemon itself said of the files. Raises DeviceError."""
        begun_s = time.time()
        try:
            self._run(["scontrol", "reconfigure"])
        except DeviceError as err:
            said = self.unit.complaints(begun_s) or first_errors(err.details.get("stderr", "")) or str(err)
            raise DeviceError(f"slurmctld refused the files and goes on with the old ones: {said}") from err
