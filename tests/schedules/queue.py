# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's queue as one process on the controller tells it all the time, so that nobody asks on his own."""

from __future__ import annotations

import subprocess
import threading
import time
from typing import NamedTuple

from lab import demo
from tests.stack import PATHS

SQUEUE = "while :; do squeue -h -a -t all -o '%F|%A|%T|%r' && echo .; sleep 0.4; done"
OVER = frozenset({"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "DEADLINE"})


class Entry(NamedTuple):
    """A job, or an element of an array."""

    array: str
    job: str
    state: str
    reason: str

    @property
    def parked(self) -> bool:
        """It waits for its next run, whose start time is minutes away."""
        return self.state == "PENDING" and self.reason == "BeginTime"


class Queue:
    """The last whole answer of squeue. What was there once and is no more is over."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._seen: set[str] = set()
        self._ended = False
        self._process: subprocess.Popen[str] | None = None
        threading.Thread(target=self._follow, daemon=True).start()

    def close(self) -> None:
        """Ask no more."""
        self._ended = True
        if self._process:
            self._process.terminate()

    def of(self, array: str) -> list[Entry]:
        """The elements of a submission that are not over."""
        return [entry for entry in self._entries if entry.array == array and entry.state not in OVER]

    def running(self, array: str) -> bool:
        """Its first element runs."""
        return any(entry.state == "RUNNING" for entry in self.of(array))

    def at_rest(self, array: str) -> bool:
        """All of it is over, or parked."""
        return array in self._seen and all(entry.parked for entry in self.of(array))

    def over(self, array: str) -> bool:
        """All of it is over."""
        return array in self._seen and not self.of(array)

    def _follow(self) -> None:
        argv = demo.ssh(PATHS, "ctl", SQUEUE)
        while not self._ended:
            with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                self._process = process
                self._read(process)
            time.sleep(0.5)

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        lines: list[Entry] = []
        for line in process.stdout:
            if not line.endswith("\n"):
                break  # ssh has ended in the middle of it
            if line.strip() != ".":
                lines.append(Entry(*line.rstrip("\n").split("|", 3)))
                continue
            self._entries, lines = lines, []
            self._seen |= {entry.array for entry in self._entries}
