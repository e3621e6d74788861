# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output: the workload's lines on standard output, messages on standard error."""

from __future__ import annotations

import sys
import threading
from typing import TextIO

from ..gate.clock import Clock

OFTEN_S = 5.0  # a log gets progress no more often, and none of short waits


class Console:
    """Lines of several threads, and one line of progress, which a terminal overwrites."""

    def __init__(self, clock: Clock, out: TextIO = sys.stdout, err: TextIO = sys.stderr) -> None:
        self._clock, self._out, self._err, self._lock = clock, out, err, threading.Lock()
        self._live, self._shown, self._at = err.isatty(), "", clock.now()

    def print(self, text: str) -> None:
        """Print a line of the workload."""
        with self._lock:
            self._wipe()
            self._out.write(f"{text}\n")
            self._out.flush()

    def say(self, text: str) -> None:
        """Print a message."""
        with self._lock:
            self._wipe()
            self._err.write(f"drawbridge-run: {text}\n")
            self._err.flush()

    def progress(self, text: str) -> None:
        """Print progress. A terminal shows only the last line; a log gets changes, not too often."""
        with self._lock:
            if text == self._shown or not (self._live or self._clock.now() - self._at >= OFTEN_S):
                return
            self._shown, self._at = text, self._clock.now()
            start, end = ("\r\x1b[K", "") if self._live else ("", "\n")
            self._err.write(f"{start}drawbridge-run: {text}{end}")
            self._err.flush()

    def _wipe(self) -> None:
        if self._live and self._shown:
            self._err.write("\r\x1b[K")
            self._shown = ""
