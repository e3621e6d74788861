# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A unit whose own unit files are among the files that we write."""

from __future__ import annotations

from collections.abc import Sequence

from ..command import Run
from ..converge import Step
from ..units import Unit
from .io import Daemon
from .plan import DaemonState

UNIT_FILES = "/etc/systemd/system/"


class OwnUnit(Daemon):
    """Like any daemon, but systemd has to read the unit files before it can act on them."""

    def __init__(self, name: str, want: DaemonState, run: Run) -> None:
        super().__init__(Unit(name, run), want)
        self._run = run

    def is_current(self, started_s: float) -> bool:
        """Besides, systemd must have read the unit files: a run that was cut off may have written and not told it."""
        units = [path[len(UNIT_FILES) :] for path in self._want.files if path.startswith(UNIT_FILES)]
        told = self._run(["systemctl", "show", "--property=NeedDaemonReload", self.name, *units]).out
        return "NeedDaemonReload=yes" not in told and super().is_current(started_s)

    def apply(self, steps: Sequence[Step[DaemonState]]) -> None:
        """Write the files, let systemd read its own before anything is asked of the unit, then do the rest."""
        writes = [step for step in steps if step.payload[0] == "write"]
        rest = [step for step in steps if step.payload[0] != "write"]
        super().apply(writes)
        if rest or any(step.payload[1].startswith(UNIT_FILES) for step in writes):
            self._run(["systemctl", "daemon-reload"])
        super().apply(rest)
