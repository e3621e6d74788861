# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""systemd units, through systemctl."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ..converge import DeviceError
from .command import Run

PROPERTIES = "LoadState,ActiveState,UnitFileState,InactiveExitTimestampMonotonic"


@dataclass(frozen=True)
class UnitState:
    """What systemd says of a unit. `started_s`: when its last start began, seconds since the epoch; 0 if it is off."""

    installed: bool
    enabled: bool
    active: bool
    started_s: float


class Unit:
    """One unit of this host."""

    def __init__(self, name: str, run: Run) -> None:
        self.name, self._run = name, run

    def read(self) -> UnitState:
        """Ask systemd. A host without systemd has no units."""
        try:
            out = self._run(["systemctl", "show", "--property", PROPERTIES, self.name]).out
        except DeviceError as err:
            if "cmd" in err.details and "rc" not in err.details:
                return UnitState(False, False, False, 0.0)
            raise
        told = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
        active = told.get("ActiveState") in ("active", "reloading")
        begun_s = int(told.get("InactiveExitTimestampMonotonic") or 0) / 1e6
        # the realtime stamps of systemctl have no fractions; files that are newer by less would be missed
        started_s = time.time() - time.monotonic() + begun_s if active else 0.0
        return UnitState(told.get("LoadState") == "loaded", told.get("UnitFileState") == "enabled", active, started_s)

    def do(self, verb: str) -> None:
        """enable, start or restart it; a failure tells the unit's last words. Raises DeviceError."""
        try:
            self._run(["systemctl", verb, self.name])
        except DeviceError as err:
            raise DeviceError(f"{self.name} did not {verb}: {self.last_words() or err}", **err.details) from err

    def last_words(self) -> str:
        """The last line of the unit's journal that tells of an error, else its last line; empty if there is none."""
        out = self._run(["journalctl", "--unit", self.name, "--lines", "100", "--output", "cat"], ok=(0, 1)).out
        said = [line for line in out.splitlines() if not line.startswith(("Start", "Stop", "Fail"))]
        wrong = [line for line in said if "fatal" in line or "error" in line]
        return (wrong or said or [""])[-1]
