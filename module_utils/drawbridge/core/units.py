# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""systemd units, through systemctl."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from .command import Run
from .converge import DeviceError

MOST_ERRORS = 3  # the first names the cause, the others mostly its consequences
_WORD = re.compile(r"\b(?:fatal|error): ")
PROPERTIES = "LoadState,ActiveState,SubState,UnitFileState,InactiveExitTimestampMonotonic"


@dataclass(frozen=True)
class UnitState:
    """A unit's state. `started_s`: when its last start began, in seconds since the epoch; 0 if it is off."""

    installed: bool
    enabled: bool
    active: bool
    started_s: float
    starting: bool = False
    """Its start has begun and not ended yet."""


class Unit:
    """One unit of this host."""

    def __init__(self, name: str, run: Run) -> None:
        self.name, self._run = name, run

    def read(self) -> UnitState:
        """Query systemd. A host without systemd has no units."""
        try:
            out = self._run(["systemctl", "show", "--property", PROPERTIES, self.name]).out
        except DeviceError as err:
            # a systemctl that hangs has stdout in its details; a missing one has not
            if "cmd" in err.details and "stdout" not in err.details:
                return UnitState(False, False, False, 0.0)
            raise
        shown = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
        active = shown.get("ActiveState") in ("active", "reloading")
        # while a unit waits for its automatic restart, no start is running
        waits = shown.get("SubState", "").startswith("auto-restart")
        starting = shown.get("ActiveState") == "activating" and not waits
        begun_s = int(shown.get("InactiveExitTimestampMonotonic") or 0) / 1e6
        # systemctl's realtime stamps have no fractions, so a file written in the same second would seem older.
        # The call of monotonic() comes before time(): a pause between the two calls must not make the start seem older
        up_s = time.monotonic() - begun_s
        started_s = time.time() - up_s if active or starting else 0.0
        installed, enabled = shown.get("LoadState") == "loaded", shown.get("UnitFileState") == "enabled"
        return UnitState(installed, enabled, active, started_s, starting)

    def do(self, verb: str) -> None:
        """Enable, start or restart it. Raises DeviceError with the unit's own errors."""
        begun_s = time.time()
        try:
            self._run(["systemctl", verb, self.name])
        except DeviceError as err:
            raise DeviceError(f"{self.name} did not {verb}: {self.complaints(begun_s) or err}", **err.details) from err

    def complaints(self, since_s: float) -> str:
        """The first errors in the unit's journal since `since_s` (seconds since the epoch), as one line."""
        argv = ["journalctl", "--unit", self.name, "--since", f"@{since_s:.3f}", "--output", "cat"]
        return first_errors(self._run(argv, ok=(0, 1)).out)


def first_errors(text: str) -> str:
    """The first errors that a daemon or command printed, as one line; empty if it printed none."""
    errors = [_WORD.split(line, maxsplit=1)[-1] for line in text.splitlines() if _WORD.search(line)]
    return "; ".join(list(dict.fromkeys(errors))[:MOST_ERRORS])
