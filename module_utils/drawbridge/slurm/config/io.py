# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurmctld: shown new files by a stand-in first, then told to reconfigure."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Callable

from ...core import files
from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...core.daemon.io import Daemon
from ...core.daemon.plan import DaemonState
from ...core.units import Unit, first_errors
from ..releases import of_version
from .text import same_hash, settings_of, shown_settings

FOR_LIFE = ("ClusterName", "SlurmctldPort", "SlurmUser", "StateSaveLocation", "AuthType")
"""What a running cluster can't follow: its state, its clients and its nodes hold on to the old value."""
_NO_ANSWER = re.compile(r"timed out|no answer within|Unable to contact")
"""How a reconfigure ends that takes longer than a client waits, for example because a node's name does not resolve."""
LATE_S, LOOK_EVERY_S = 60.0, 1.0
"""How long after that slurmctld is asked which files it runs with."""
ASKS = 3
"""One that runs and answers late is no reason for a reconfigure."""


@dataclass(frozen=True)
class Care:
    """What slurmctld is spared: files that another release would read, files it would refuse, lost launches."""

    conf: str
    """Path of slurm.conf among its files."""
    release: str
    """The release that the files are written for, such as 24.11; empty: not compared."""
    judge: Callable[[str, Mapping[str, str]], None]
    """Raises DeviceError, in Slurm's words, for slurm.conf and texts by path that Slurm would refuse."""
    prolog_wait_s: float = 0.0


class Slurmctld(Daemon):
    """The controller daemon, which itself tells the hash of the slurm.conf that it has read.

    The hash covers comments. slurm.conf names the digests of the other files in one, so it speaks for all of them.
    """

    def __init__(self, unit: Unit, want: DaemonState, run: Run, care: Care) -> None:
        super().__init__(unit, want)
        self._run, self._care = run, care
        self._judged = False

    def read(self) -> DaemonState:
        """Files and daemon; new files are shown to Slurm at once, before a plan is made of them. Raises DeviceError."""
        state = super().read()
        if not self._judged:
            self._judge(state)
            self._judged = True
        return state

    def _judge(self, state: DaemonState) -> None:
        texts = {path: entry.content for path, entry in self._want.files.items() if entry.content is not None}
        mine = {path: texts[path] for path in self._want.read_once()}
        if self._care.conf in mine and any(state.files.get(path) != self._want.files[path] for path in mine):
            self._refuse_another_release()
            if state.active:
                self._refuse_another_life(texts[self._care.conf])
            self._care.judge(self._care.conf, mine)

    def _refuse_another_release(self) -> None:
        installed = of_version(self._run(["slurmctld", "-V"]).out)
        if self._care.release and installed != self._care.release:
            raise DeviceError(
                f"drawbridge_slurm.version is {self._care.release}, but slurmctld here is {installed or 'unreadable'},"
                " which would read the files in another way; describe the release that is installed"
            )

    def _refuse_another_life(self, conf: str) -> None:
        try:
            running = shown_settings(self._run(["scontrol", "show", "config"]).out)
        except DeviceError:
            return  # nobody tells; slurmctld itself would refuse a foreign cluster's name
        wanted = settings_of(conf)
        for key in FOR_LIFE:
            if key in running and wanted.get(key, running[key]) != running[key]:
                raise DeviceError(
                    f"slurm.conf would change {key} from {running[key]} to {wanted[key]}, and no running cluster can"
                    " follow that; stop slurmctld and every slurmd, move what belongs to it, then run again"
                )

    def is_current(self, started_s: float) -> bool:
        """Compare the daemon's own hash with that of the files as this host's commands read them."""
        for _ in range(ASKS):
            try:
                return same_hash(self._run(["scontrol", "show", "config"]).out)
            except DeviceError as err:
                if not _unanswered(err):
                    break
            time.sleep(LOOK_EVERY_S)
        return False  # the file on disk can't be parsed, or nobody answers: both need another look by the daemon

    def busy(self) -> str:
        """Jobs whose prolog runs; a reconfigure now could lose their launch. They get a moment to finish."""
        deadline = time.monotonic() + self._care.prolog_wait_s
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
        """Reconfigure; a failure tells what the daemon itself said of the files. Raises DeviceError.

        No answer is no refusal: the daemon may have read them all the same, and its hash tells.
        """
        begun_s = time.time()
        try:
            self._run(["scontrol", "reconfigure"])
        except DeviceError as err:
            if _unanswered(err) and self._follows_late():
                return
            said = self.unit.complaints(begun_s) or first_errors(err.details.get("stderr", "")) or str(err)
            raise DeviceError(f"slurmctld refused the files and goes on with the old ones: {said}") from err

    def _follows_late(self) -> bool:
        deadline = time.monotonic() + LATE_S
        while not (current := self.is_current(0)) and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY_S)
        return current


def _unanswered(err: DeviceError) -> bool:
    return bool(_NO_ANSWER.search(f"{err} {err.details.get('stderr', '')}"))
