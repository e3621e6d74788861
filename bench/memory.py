# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Memory of all processes that this one has started, together."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

PROC = Path("/proc")
PAUSE_S = 0.5
PSS = re.compile(r"^Pss: +([0-9]+) kB", re.MULTILINE)


def parents() -> dict[int, int]:
    """The parent of each process."""
    found = {}
    for place in PROC.glob("[0-9]*"):
        try:
            # the name in brackets may hold blanks and brackets
            found[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
    return found


def started_by(pid: int) -> set[int]:
    """All descendants of a process."""
    above, found = parents(), {pid}
    while more := {child for child, parent in above.items() if parent in found} - found:
        found |= more
    return found - {pid}


def now_mib() -> float:
    """What the descendants of this process use. Pages that several share count once."""
    total = 0
    for pid in started_by(os.getpid()):
        try:
            total += sum(map(int, PSS.findall((PROC / str(pid) / "smaps_rollup").read_text())))
        except OSError:
            continue
    return total / 1024


class Peak:
    """The most that they use within a `with`, seen twice a second."""

    def __init__(self) -> None:
        self.mib = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._over.wait(PAUSE_S):
            self.mib = max(self.mib, now_mib())

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()
