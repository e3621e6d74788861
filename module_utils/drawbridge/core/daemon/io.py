# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A daemon and its files on this host. Its start time, compared with the files' change times, shows what it loaded."""

from __future__ import annotations

import fcntl
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .. import files
from ..converge import Step
from ..file_entry import Entry
from ..units import Unit, UnitState
from .plan import DaemonState


def held(lock: str) -> str:
    """Why Slurm's scripts must not change now: one of them runs, and holds the shared lock."""
    if not lock or not Path(lock).exists():
        return ""
    with Path(lock).open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return f"a prolog or epilog is running (it holds {lock}); run again when it is over"
    return ""


class Daemon:
    """A unit that reads its files when it starts."""

    def __init__(self, unit: Unit, want: DaemonState, busy_lock: str = "") -> None:
        self.unit, self._want, self._busy_lock = unit, want, busy_lock
        self.name = unit.name

    def read(self) -> DaemonState:
        state = self.unit.read()
        found = {path: self._read(path) for path in self._want.files}
        return replace(
            self._want,
            files={path: entry for path, entry in found.items() if entry},
            enabled=state.enabled,
            active=state.active,
            current=self._reads_files(state),
            fresh=(state.active or state.starting) and self._younger_than(self._want.read_at_start(), state.started_s),
            starting=state.starting,
        )

    def _read(self, path: str) -> Entry | None:
        entry, want = files.read(path), self._want.files[path]
        if entry and path in self._want.once and entry.content is None and want.content is None:
            return want
        return entry

    def _reads_files(self, state: UnitState) -> bool:
        """Whether the daemon, or the start that is running, has loaded the files as they are now."""
        if state.active:
            return self.is_current(state.started_s)
        return state.starting and self._younger_than(self._want.read_once(), state.started_s)

    def is_current(self, started_s: float) -> bool:
        """Whether a daemon that started at `started_s` has loaded its files as they are now."""
        return self._younger_than(self._want.read_once(), started_s)

    def _younger_than(self, paths: Sequence[str], started_s: float) -> bool:
        return all(files.changed_s(path) <= started_s for path in paths)

    def busy(self) -> str:
        """Why the daemon must not be disturbed now: a script holds a shared lock."""
        return held(self._busy_lock)

    def apply(self, steps: Sequence[Step[DaemonState]]) -> None:
        for step in steps:
            verb, path = step.payload
            if verb == "write":
                files.write(path, self._want.files[path])
            elif verb == "refresh":
                self.refresh()
            else:
                self.unit.do(verb)

    def refresh(self) -> None:
        """Make the running daemon load its files again."""
        self.unit.do("restart")
