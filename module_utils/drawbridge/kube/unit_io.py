# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes daemon: a package may replace its program, and a restart must not disturb jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..core import files
from ..core.command import Run
from ..core.converge import Step
from ..core.daemon.own_unit_io import OwnUnit
from ..core.daemon.plan import DaemonState
from ..core.file_entry import Entry
from .unit_plan import REMOVE

LEFT = Entry("left over\n")
"""A diff shows this for a removed file, because the file may have held a secret."""


class KubeUnit(OwnUnit):
    """The unit with its files, its program, and `leftovers`: files that an earlier run may have left."""

    def __init__(self, want: DaemonState, run: Run, program: str, leftovers: Iterable[str] = ()) -> None:
        super().__init__(want.unit, want, run)
        self._program, self._leftovers = program, list(leftovers)

    def read(self) -> DaemonState:
        """The daemon, with the leftovers among its files."""
        state = super().read()
        left = [path for path in self._leftovers if path not in self._want.files and Path(path).exists()]
        return replace(state, files={**state.files, **dict.fromkeys(left, LEFT)})

    def is_current(self, started_s: float) -> bool:
        """Whether the unit started after its program and its files last changed."""
        return files.changed_s(self._program) <= started_s and super().is_current(started_s)

    def apply(self, steps: Sequence[Step[DaemonState]]) -> None:
        """Remove the leftovers, then do the rest."""
        rest = [step for step in steps if step.payload[0] != REMOVE]
        for step in steps:
            if step not in rest:
                files.remove(step.payload[1])
        if rest:
            super().apply(rest)


def with_header(folder: Path, names: str, header: str) -> list[str]:
    """Files below a folder that begin with Drawbridge's header."""
    return sorted(str(path) for path in folder.glob(names) if path.read_text(errors="replace").startswith(header))
