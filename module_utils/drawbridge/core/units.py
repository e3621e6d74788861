# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""systemd units, through systemctl."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from .command import Run
from .converge import DeviceError

COMPLAINTS = 3  # the first one names the cause, the rest mostly its consequences
_WORD = re.compile(r"\b(?:fatal|error): ")
PROPERTIES = "LoadState,ActiveState,SubState,UnitFileState,InactiveExitTimestampMonotonic"


@dataclass(frozen=True)
class UnitState:
    """What systemd says of a unit. `started_s`: when its last start began, seconds since the epoch; 0 if it is off."""

    installed: bool
    enabled: bool
    active: bool
    started_s: float
    starting: bool = False
    """It is on its way up, which may take long, or never end."""


class Unit:
    """One unit of this host."""

    def __init__(self, name: str, run: Run) -> None:
        self.name, self._run = name, run

    def read(self) -> UnitState:
        """Ask systemd. A host without systemd has no units."""
        try:
            out = self._run(["systemctl", "show", "--property", PROPERTIES, self.name]).out
        except DeviceError as err:
            # one that hangs has said something, if little
            if "cmd" in err.details and "stdout" not in err.details:
                return UnitState(False, False, False, 0.0)
            raise
        told = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
        active = told.get("ActiveState") in ("active", "reloading")
        # between two starts there is none: one that is asked for is the next
        waits = told.get("SubState", "").startswith("auto-restart")
        starting = told.get("ActiveState") == "activating" and not waits
        begun_s = int(told.get("InactiveExitTimestampMonotonic") or 0) / 1e6
        # the realtime stamps of systemctl have no fractions; files that are newer by less would be missed
        # and what passes between two looks must not make the start look older than it is
        up_s = time.monotonic() - begun_s
        started_s = time.time() - up_s if active or starting else 0.0
        installed, enabled = told.get("LoadState") == "loaded", told.get("UnitFileState") == "enabled"
        return UnitState(installed, enabled, active, started_s, starting)

    def do(self, verb: str) -> None:
        """enable, start or restart it; a failure tells what the unit said of it. Raises DeviceError."""
        begun_s = time.time()
        try:
            self._run(["systemctl", verb, self.name])
        except DeviceError as err:
            raise DeviceError(f"{self.name} did not {verb}: {self.complaints(begun_s) or err}", **err.details) from err

    def complaints(self, since_s: float) -> str:
        """The first errors in the unit's journal since then (seconds since the epoch), as one line."""
        argv = ["journalctl", "--unit", self.name, "--since", f"@{since_s:.3f}", "--output", "cat"]
        return first_errors(self._run(argv, ok=(0, 1)).out)


def first_errors(text: str) -> str:
    """The first errors that a daemon or command printed, as one line; empty if it printed none."""
    said = [_WORD.split(line, maxsplit=1)[-1] for line in text.splitlines() if _WORD.search(line)]
    return "; ".join(list(dict.fromkeys(said))[:COMPLAINTS])
