# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One changing command per lab at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.errors import LabError

PATIENCE_SECONDS = 120


@contextmanager
def only_one(
    path: Path, command: str, say: Callable[[str], None], patience: float = PATIENCE_SECONDS
) -> Iterator[Path]:
    """Hold the lab's lock while `command` runs; waits `patience` seconds for another command, then LabError.

    The kernel gives the lock back however this process ends, and what it starts doesn't inherit it.
    """
    deadline = time.monotonic() + patience
    told = False
    while (descriptor := _take(path)) is None:
        holder = _holder(path)
        if not told:
            say(f"waiting for {holder}")
            told = True
        if time.monotonic() > deadline:
            raise LabError(f"the lab is busy with {holder} for over {patience:.0f} s: wait for it or end it")
        time.sleep(0.1)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"lab {command} (process {os.getpid()})".encode())
        yield path
    finally:
        os.close(descriptor)


def _take(path: Path) -> int | None:
    """An open, locked file that still has its name: `lab down` removes the name while others wait for the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
    os.close(descriptor)
    return None


def _holder(path: Path) -> str:
    with contextlib.suppress(FileNotFoundError):
        return path.read_text() or "another command"
    return "another command"
