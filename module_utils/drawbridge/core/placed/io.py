# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The record on this host, and what it lists."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from .. import files
from ..command import Run
from ..converge import DeviceError, Step
from ..file_entry import Entry
from ..host_files.io import RUNNING
from ..host_files.text import block, without_block
from .plan import UNITS, LeftState, unit
from .text import BLOCK, TREE, Item, Record, left_over, parse, text, without


class RecordFile:
    """The file of the record. `earlier` is what releases without a record placed."""

    def __init__(self, earlier: Record, path: Path) -> None:
        self._earlier, self._path = earlier, path

    def read(self) -> dict[str, list[Item]]:
        """The record; on a host without one, the items of earlier releases that exist. Raises DeviceError."""
        entry = files.read(str(self._path))
        if entry is None:
            found = {role: [item for item in listed if there(item)] for role, listed in self._earlier.items()}
            return {role: listed for role, listed in found.items() if listed}
        try:
            return parse(entry.content or "")
        except ValueError as err:
            raise DeviceError(f"{self._path} is no record: {err}; remove it, and the next run makes it anew") from err

    def write(self, record: Record) -> None:
        """Replace the record. Raises DeviceError."""
        files.write(str(self._path), Entry(text(record), "0600"))


class Leftovers:
    """Items of roles that no role wants any more."""

    name = "files that the intent has no more"

    def __init__(self, file: RecordFile, wanted: Record, gone: Sequence[str], run: Run) -> None:
        self._file, self._wanted, self._gone, self._run = file, wanted, gone, run

    def read(self) -> LeftState:
        """Those of the record that exist. Raises DeviceError."""
        return LeftState(frozenset(filter(there, left_over(self._file.read(), self._wanted, self._gone))))

    def apply(self, steps: Sequence[Step[LeftState]]) -> None:
        """Remove them, and forget each as soon as it is gone. Raises DeviceError."""
        systemd = Path(RUNNING).is_dir()
        for step in steps:
            item = step.payload
            # a unit that is a link is masked, and does not run
            if systemd and (name := unit(item)) and not Path(item.path).is_symlink():
                self._stop(name)
            _remove(item)
            self._file.write(without(self._file.read(), [item]))
        if systemd and any(step.payload.path.startswith(UNITS) for step in steps):
            self._run(["systemctl", "daemon-reload"])

    def _stop(self, name: str) -> None:
        """Stop a unit, or all units of a template, and start it at no boot."""
        if "@." in name:
            self._run(["systemctl", "stop", name.replace("@.", "@*.")])
        else:
            self._run(["systemctl", "disable", "--now", name])


def there(item: Item) -> bool:
    """Whether an item exists. Raises DeviceError."""
    path = Path(item.path)
    if item.kind == TREE:
        return path.is_dir()
    if item.kind != BLOCK:
        return path.is_symlink() or path.exists()
    entry = files.read(item.path)
    return entry is not None and block(entry.content or "") is not None


def _remove(item: Item) -> None:
    try:
        if item.kind == TREE:
            shutil.rmtree(item.path)
        elif item.kind != BLOCK:
            files.remove(item.path)
        elif (entry := files.read(item.path)) and entry.content is not None:
            _write_rest(item.path, entry, without_block(entry.content))
    except OSError as err:
        raise DeviceError(f"{item.path} can't be removed: {err.strerror}") from err


def _write_rest(path: str, entry: Entry, rest: str) -> None:
    """The site's own lines stay. A file without any was Drawbridge's."""
    if rest.strip():
        files.write(path, Entry(rest, entry.mode, entry.owner, entry.group))
    else:
        files.remove(path)
