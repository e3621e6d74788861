# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The files of one program on this host, and its blocks in files of the site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .. import files
from ..command import Run
from ..converge import Step
from ..file_entry import Entry
from .plan import FilesState
from .text import block, with_block

UNITS, RUNNING = "/etc/systemd/system/", "/run/systemd/system"
"""Where the unit files are that systemd reads once, and the sign that it runs."""


class HostFiles:
    """The files of one program, known by its name."""

    def __init__(self, name: str, want: FilesState, run: Run) -> None:
        self.name, self._want, self._run = name, want, run

    def read(self) -> FilesState:
        """Those files that exist. Raises DeviceError."""
        found = {path: self._read(path) for path in self._want.files}
        return FilesState({path: entry for path, entry in found.items() if entry}, self._want.blocks)

    def apply(self, steps: Sequence[Step[FilesState]]) -> None:
        """Write them in order. Raises DeviceError."""
        for step in steps:
            path, entry = step.payload, self._want.files[step.payload]
            if path in self._want.blocks:
                old = files.read(path)
                entry = replace(entry, content=with_block((old.content if old else None) or "", entry.content or ""))
            files.write(path, entry)
        if any(step.payload.startswith(UNITS) for step in steps) and Path(RUNNING).is_dir():
            self._run(["systemctl", "daemon-reload"])

    def _read(self, path: str) -> Entry | None:
        entry = files.read(path)
        if entry is None or path not in self._want.blocks:
            return entry
        content = block(entry.content or "")
        return None if content is None else replace(entry, content=content)
