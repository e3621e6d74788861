# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's folder of findings: memory, history, lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...core.converge import DeviceError
from ...core.files import read_own, write_bytes
from .history import Entry, parsed
from .memory import Notes

FOLDER = Path("/var/lib/drawbridge/health")
MOST_BYTES = 5 << 20
"""Of the history; then it begins anew beside one old file."""
PAUSE_S = 0.1


class Busy(DeviceError):
    """Another program of this controller decides now."""


class Store:
    """Files below one folder. All may read the history; root alone reads the memory."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        self.memory, self.history = folder / "memory.json", folder / "history.jsonl"

    @contextlib.contextmanager
    def locked(self, wait_s: float = 0.0) -> Iterator[None]:
        """Keep others out. Raises Busy if one still works then; the kernel ends the lock with its process."""
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        end = time.monotonic() + wait_s
        try:
            while not _taken(handle):
                if time.monotonic() >= end:
                    raise Busy("another drawbridge-health works on this controller")
                time.sleep(PAUSE_S)
            yield
        finally:
            os.close(handle)

    def load(self) -> Notes:
        """The notes of the last look. Raises ValueError or OSError without a file that can be read."""
        return Notes.parse(read_own(self.memory)[0])

    def save(self, notes: Notes) -> None:
        """Replace the notes. Raises OSError."""
        write_bytes(self.memory, notes.text().encode(), 0o600, (os.geteuid(), os.getegid()))

    def forget(self) -> None:
        """Remove notes that could not be replaced: old ones would close breakers. A full disk allows this."""
        with contextlib.suppress(OSError):
            self.memory.unlink()

    def append(self, entries: Iterable[Entry]) -> None:
        """Add to the history. Raises OSError."""
        lines = "".join(f"{entry.line()}\n" for entry in entries)
        if not lines:
            return
        with contextlib.suppress(FileNotFoundError):
            if self.history.stat().st_size >= MOST_BYTES:
                self.history.replace(self.history.with_suffix(".jsonl.1"))
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self.history, flags, 0o644), "ab+") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write((_break(file.fileno()) + lines).encode())

    def entries(self) -> list[Entry]:
        """The history, the oldest first. A file that can't be read is left out."""
        return [entry for file in (self.history.with_suffix(".jsonl.1"), self.history) for entry in _entries(file)]


def _entries(file: Path) -> Iterator[Entry]:
    with contextlib.suppress(OSError), file.open(encoding="utf-8", errors="replace") as lines:
        yield from parsed(lines)


def _break(handle: int) -> str:
    """A line break if the last line has none: a program died while it wrote."""
    size = os.fstat(handle).st_size
    return "\n" if size and os.pread(handle, 1, size - 1) != b"\n" else ""


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
