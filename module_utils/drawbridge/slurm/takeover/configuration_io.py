# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A daemon of a Slurm controller, whose whole configuration may be the site's still."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path, PurePath

from ...core import files as core_files
from ...core.converge import DeviceError
from ...core.daemon.plan import DaemonState
from ...core.file_entry import Entry
from . import files
from .environment import is_foreign
from .io import TakenOver, text_of
from .model import Change


class Configured(TakenOver):
    """It compares all files of Slurm's own."""

    def compares(self, path: str) -> bool:
        """Whether a file at this path may hold the site's own lines."""
        return files.is_compared(path)

    def changes(self, path: str, old: str, new: str) -> list[Change]:
        """What becomes of each line of the site's file `old`, and of those that it includes."""
        live = text_of(_beside(path, "slurm.conf"))
        try:
            return files.changes(
                *(path, old, new, lambda name: _included(path, name), self._site.scripts, live, self._site.release)
            )
        except ValueError as err:
            raise DeviceError(f"{path}: {err}") from err

    def _changes(self, state: DaemonState, stale: Collection[str]) -> list[tuple[str, list[Change]]]:
        """Files that must go have lines too: a topology.yaml has those that topology.conf then has."""
        found = super()._changes(state, ())
        for path in sorted(stale):
            new = self._want.files.get(_beside(path, "topology.conf"), Entry(""))
            if lost := self.changes(path, text_of(path), new.content or ""):
                found.append((path, lost))
        return found

    def hides(self, path: str, content: str) -> bool:
        """Whether the file may hold passwords."""
        return PurePath(path).name == "slurmdbd.conf" or is_foreign(content)


def _included(path: str, name: str) -> str:
    """The text of a file after Include. Raises DeviceError: with less than Slurm reads, lines would vanish unseen."""
    place = _beside(path, name)
    entry = core_files.read(str(Path(place).resolve()))
    if entry is None or entry.content is None:
        raise DeviceError(f"{path} includes {place}, which is missing; Slurm would not start with it either")
    return entry.content


def _beside(path: str, name: str) -> str:
    """The file after Include in the file at `path`."""
    return name if name.startswith("/") else str(Path(path).parent / name)
