# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The end of a program and of everything that it has started."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path


def end(pid: int) -> None:
    """SIGKILL for a process and all that descend from it, workers with sessions of their own included.

    All are stopped first, until no child is found that is not: what runs could have more of them meanwhile.
    """
    doomed: list[int] = []
    while new := [one for one in (pid, *_descendants([pid, *doomed])) if one not in doomed]:
        for one in new:
            _signal(one, signal.SIGSTOP)
        doomed += new
    for one in doomed:
        _signal(one, signal.SIGKILL)


def _descendants(ancestors: Sequence[int]) -> list[int]:
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = list(ancestors)
    for parent in found:
        found += [child for child in children.get(parent, []) if child not in found]
    return found


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
