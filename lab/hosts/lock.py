# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One changing command per lab at a time."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.errors import LabError


@contextmanager
def only_one(path: Path, command: str, say: Callable[[str], None], patience: float = 120) -> Iterator[None]:
    """Hold the lab's lock while `command` runs; waits `patience` seconds for another command, then LabError.

    The kernel gives the lock back however this process ends, and what it starts doesn't inherit it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        if not _take(file.fileno()):
            file.seek(0)
            holder = file.read().strip() or "another command"
            say(f"waiting for {holder}")
            deadline = time.monotonic() + patience
            while not _take(file.fileno()):
                if time.monotonic() > deadline:
                    raise LabError(f"the lab is busy with {holder} for over {patience:.0f} s: wait for it or end it")
                time.sleep(0.1)
        file.truncate(0)
        file.write(f"lab {command} (process {os.getpid()})")
        file.flush()
        yield


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
