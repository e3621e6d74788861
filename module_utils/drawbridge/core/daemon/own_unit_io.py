# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A daemon whose unit files are among the files that Drawbridge writes."""

from __future__ import annotations

from collections.abc import Sequence

from ..command import Run
from ..converge import Step
from ..units import Unit
from .io import Daemon
from .plan import DaemonState

UNIT_FILES = "/etc/systemd/system/"


class OwnUnit(Daemon):
    """A daemon for which systemd must reload unit files before it acts on the unit."""

    def __init__(self, name: str, want: DaemonState, run: Run) -> None:
        super().__init__(Unit(name, run), want)
        self._run = run

    def is_current(self, started_s: float) -> bool:
        """Systemd must have loaded the unit files too: a run may have been killed between write and daemon-reload."""
        units = [path[len(UNIT_FILES) :] for path in self._want.files if path.startswith(UNIT_FILES)]
        shown = self._run(["systemctl", "show", "--property=NeedDaemonReload", self.name, *units]).out
        return "NeedDaemonReload=yes" not in shown and super().is_current(started_s)

    def apply(self, steps: Sequence[Step[DaemonState]]) -> None:
        """Write the files, reload systemd, then do the other steps."""
        writes = [step for step in steps if step.payload[0] == "write"]
        rest = [step for step in steps if step.payload[0] != "write"]
        super().apply(writes)
        if rest or any(step.payload[1].startswith(UNIT_FILES) for step in writes):
            self._run(["systemctl", "daemon-reload"])
        super().apply(rest)
