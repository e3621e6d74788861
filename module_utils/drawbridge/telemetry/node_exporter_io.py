# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site's node_exporter on this host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..core.command import Run
from ..core.converge import Step
from ..core.daemon.own_unit_io import OwnUnit
from ..core.daemon.plan import DaemonState


class NodeExporter(OwnUnit):
    """The site's unit. After a restart, two looks must find the same process: one that refuses its flags ends soon."""

    def __init__(self, want: DaemonState, run: Run, program: str) -> None:
        super().__init__(want.unit, want, run)
        self._program, self._pid, self._changed = program, "", False
        self.argv: list[str] = []
        """The command line of its program; empty if it does not run, and while the starter runs."""

    def read(self) -> DaemonState:
        """The unit, its files and its process."""
        state, before = super().read(), self._pid
        self._pid, self.argv = self._process() if state.active else ("", [])
        steady = not self._changed or (bool(self.argv) and self._pid == before)
        return replace(state, current=state.current and steady)

    def apply(self, steps: Sequence[Step[DaemonState]]) -> None:
        """Write the files and restart the unit, if it runs."""
        super().apply(steps)
        self._pid, self._changed = "", True

    def _process(self) -> tuple[str, list[str]]:
        pid = self._run(["systemctl", "show", "--property=MainPID", self.name]).out.strip().partition("=")[2]
        try:
            argv = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")[:-1]
        except OSError:  # it has ended
            return pid, []
        return (pid, argv) if argv[:1] == [self._program] else ("", [])
