# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's folder of budgets: the record of resets, and a lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...core.converge import DeviceError
from ...core.files import read_own, write_bytes
from .memory import Entry, parsed, text

FOLDER = Path("/var/lib/drawbridge/budget")


class Store:
    """Files below one folder. All may read the record."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder, self.record = folder, folder / "periods.json"

    @contextlib.contextmanager
    def locked(self) -> Iterator[bool]:
        """Keep others out; False if another program of this controller works. Raises OSError."""
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(handle)

    def load(self) -> dict[str, Entry]:
        """The record; empty if there is none yet. Raises DeviceError for one that can't be read."""
        try:
            return parsed(read_own(self.record)[0])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as err:
            repair = "remove it, and each QOS goes on until its next period"
            raise DeviceError(f"{self.record} can't be read ({err}); {repair}") from err

    def save(self, entries: Mapping[str, Entry]) -> None:
        """Replace the record. Raises DeviceError."""
        try:
            write_bytes(self.record, text(entries).encode(), 0o644, (os.geteuid(), os.getegid()))
        except OSError as err:
            raise DeviceError(f"{self.record} can't be written: {err.strerror}") from err
