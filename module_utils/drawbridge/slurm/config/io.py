# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurmctld and its files: a trial slurmctld reads new files first, then the real one reconfigures."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Callable

from ...core import files
from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...core.daemon.plan import DaemonState
from ...core.units import Unit, first_errors
from ..releases import of_version
from ..takeover.configuration_io import Configured
from ..takeover.io import NOTHING, Site
from ..takeover.plan import TakeoverState
from .text import same_hash, settings_of, shown_settings

FIXED_KEYS = ("ClusterName", "SlurmctldPort", "SlurmUser", "StateSaveLocation", "AuthType")
"""Keys that can't change in a running cluster: its state, clients and nodes keep the old value."""
_NO_ANSWER = re.compile(r"timed out|no answer within|Unable to contact")
"""scontrol's error when a reconfigure takes too long, for example because a node's name does not resolve."""
LATE_S, POLL_S = 60.0, 1.0
"""How long, and how often, slurmctld's hash is then compared."""
TRIES = 3
"""A slurmctld that answers late needs no reconfigure."""


@dataclass(frozen=True)
class Safeguards:
    """Checks before slurmctld gets new files: the release, a trial, and running prologs."""

    conf: str
    """Path of slurm.conf among its files."""
    release: str
    """The release that the files are for, such as 24.11; empty: not compared."""
    trial: Callable[[str, Mapping[str, str]], None]
    """Gets the path of slurm.conf and texts by path. Raises DeviceError with Slurm's errors."""
    prolog_wait_s: float = 0.0
    user: str = "slurm"
    """The user of slurm.conf, which must be the unit's."""


class Slurmctld(Configured):
    """The controller daemon. It reports the hash of the slurm.conf that it has read.

    The hash covers comments. slurm.conf has the digests of the other files in comments, so the hash covers all files.
    """

    def __init__(self, unit: Unit, want: TakeoverState, run: Run, safe: Safeguards, site: Site = NOTHING) -> None:
        super().__init__(unit, want, site=site)
        self._run, self._safe = run, safe
        self._tried = False

    def read(self) -> DaemonState:
        """Read files and daemon. The first read also tries new files, before a plan exists. Raises DeviceError."""
        state = super().read()
        if not self._tried:
            self._try_new_files(state)
            self._tried = True
        return state

    def _try_new_files(self, state: DaemonState) -> None:
        texts = {path: entry.content for path, entry in self._want.files.items() if entry.content is not None}
        mine = {path: texts[path] for path in self._want.read_once()}
        if self._safe.conf in mine and any(state.files.get(path) != self._want.files[path] for path in mine):
            self._refuse_another_release()
            self._refuse_another_user()
            if state.active:
                self._refuse_fixed_keys(texts[self._safe.conf])
            self._safe.trial(self._safe.conf, mine)

    def _refuse_another_release(self) -> None:
        installed = of_version(self._run(["slurmctld", "-V"]).out)
        if self._safe.release and installed != self._safe.release:
            raise DeviceError(
                f"drawbridge_slurm.version is {self._safe.release}, but slurmctld here is {installed or 'unreadable'},"
                " which reads the files differently; set the installed release"
            )

    def _refuse_another_user(self) -> None:
        """slurmctld does not start as another user than slurm.conf names; root becomes that user."""
        argv = ["systemctl", "show", "--property", "User", "--value", self.unit.name]
        user = self._run(argv).out.strip() or "root"
        if user not in (self._safe.user, "root"):
            raise DeviceError(
                f"{self.unit.name} runs as the user {user}, but drawbridge_slurm.settings.SlurmUser is"
                f" {self._safe.user}; set the unit's user, or write User={self._safe.user} with: systemctl edit"
                f" {self.unit.name}"
            )

    def _refuse_fixed_keys(self, conf: str) -> None:
        try:
            running = shown_settings(self._run(["scontrol", "show", "config"]).out)
        except DeviceError:
            return  # slurmctld does not answer; it would itself refuse another cluster's name
        wanted = settings_of(conf)
        for key in FIXED_KEYS:
            if key in running and wanted.get(key, running[key]) != running[key]:
                raise DeviceError(
                    f"slurm.conf would change {key} from {running[key]} to {wanted[key]}, which is impossible in a"
                    " running cluster; stop all Slurm daemons, move the state, then run again"
                )

    def is_current(self, started_s: float) -> bool:
        """Whether the daemon's hash matches the files on this host."""
        for _attempt in range(TRIES):
            try:
                shown = self._run(["scontrol", "show", "config"]).out
            except DeviceError as err:
                if not _unanswered(err):
                    break
            else:
                place = shown_settings(shown).get("SLURM_CONF", self._safe.conf)
                self._refuse_another_place(place)
                return same_hash(shown, place)
            time.sleep(POLL_S)
        return False  # the file on disk can't be parsed, or slurmctld does not answer: it must read the files again

    def _refuse_another_place(self, place: str) -> None:
        """A Slurm built with another folder goes on with the files there. Links are followed. Raises DeviceError."""
        folder, own = (str(PurePath(path).parent) for path in (place, self._safe.conf))
        if Path(place).resolve() != Path(self._safe.conf).resolve():
            raise DeviceError(
                f"slurmctld reads {place}, and Drawbridge writes {self._safe.conf}; stop slurmctld, move the files to"
                f" {own}, leave a link to it at {folder}, then start slurmctld"
            )

    def busy(self) -> str:
        """Wait for running prologs: a reconfigure could lose their jobs' launch. The reason if one still runs."""
        deadline = time.monotonic() + self._safe.prolog_wait_s
        while jobs := self._starting():
            if time.monotonic() >= deadline:
                return f"job {jobs[0]} is in its prolog, and a reconfigure could lose its launch; run again"
            time.sleep(0.5)
        return ""

    def _starting(self) -> list[str]:
        try:
            out = self._run(["squeue", "--noheader", "--states", "CF,R", "--format", "%i|%T|%r"]).out
        except DeviceError:
            return []  # slurmctld is down, or its file is broken; either way only a change helps
        rows = [line.split("|") for line in out.splitlines()]
        return [row[0] for row in rows if row[1] == "CONFIGURING" or row[2] == "Prolog"]

    def apply(self, steps: Sequence[Step[DaemonState]]) -> None:
        """Do the steps. If the daemon refuses the files, restore the old ones: every client command reads them."""
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
        """Reconfigure. Raises DeviceError with the daemon's own error.

        After a timeout the daemon's hash decides: it may have read the files.
        """
        begun_s = time.time()
        try:
            self._run(["scontrol", "reconfigure"])
        except DeviceError as err:
            if _unanswered(err) and self._follows_late():
                return
            error = self.unit.complaints(begun_s) or first_errors(err.details.get("stderr", "")) or str(err)
            raise DeviceError(f"slurmctld refused the files and goes on with the old ones: {error}") from err

    def _follows_late(self) -> bool:
        deadline = time.monotonic() + LATE_S
        while not (current := self.is_current(0)) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        return current


def _unanswered(err: DeviceError) -> bool:
    return bool(_NO_ANSWER.search(f"{err} {err.details.get('stderr', '')}"))
