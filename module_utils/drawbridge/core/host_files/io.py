# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The files of one program on this host."""

from __future__ import annotations

from collections.abc import Sequence

from .. import files
from ..converge import Step
from .plan import FilesState


class HostFiles:
    """The files of one program, known by its name."""

    def __init__(self, name: str, want: FilesState) -> None:
        self.name, self._want = name, want

    def read(self) -> FilesState:
        """Those files that exist. Raises DeviceError."""
        found = {path: files.read(path) for path in self._want.files}
        return FilesState({path: entry for path, entry in found.items() if entry})

    def apply(self, steps: Sequence[Step[FilesState]]) -> None:
        """Write them in order. Raises DeviceError."""
        for step in steps:
            files.write(step.payload, self._want.files[step.payload])
