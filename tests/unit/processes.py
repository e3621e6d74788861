# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes that tests leave to a time limit."""

from __future__ import annotations

from pathlib import Path

from tests.waiting import until

LIMITS_S = (0.5, 2, 8, 32)
"""To end what hangs, shortest first: one that a loaded machine reaches before it has begun proves nothing."""


def gone(pid: int) -> None:
    """Wait until a process is no more; a zombie counts as none."""
    until(lambda: not _alive(pid), 60, f"process {pid} is gone")


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
