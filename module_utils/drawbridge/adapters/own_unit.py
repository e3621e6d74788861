# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A unit whose own unit files are among the files that we write."""

from __future__ import annotations

from collections.abc import Sequence

from ..converge import Step
from ..plans.daemon import DaemonState
from .command import Run
from .daemon import Daemon
from .unit import Unit

UNIT_FILES = "/etc/systemd/system/"


class OwnUnit(Daemon):
    """Like any daemon, but systemd has to read the unit files before it can act on them."""

    def __init__(self, name: str, want: DaemonState, run: Run) -> None:
        super().__init__(Unit(name, run), want)
        self._run = run

    def apply(self, steps: Sequence[Step[DaemonState]]) -> None:
        """Write the files, let systemd read its own, then do the rest."""
        writes = [step for step in steps if step.payload[0] == "write"]
        super().apply(writes)
        if any(step.payload[1].startswith(UNIT_FILES) for step in writes):
            self._run(["systemctl", "daemon-reload"])
        super().apply([step for step in steps if step.payload[0] != "write"])
