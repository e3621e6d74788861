# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Print a pod's log while it grows, without loss or repetition when a connection breaks."""

from __future__ import annotations

import threading
from collections import Counter

from ..gate.api import Unreachable
from ..gate.clock import Clock
from ..gate.config import Refused
from .console import Console
from .kube import Kube

AGAIN_S = 1.0
LAST_LINES = 20


class Follower:
    """One pod's log, in a thread of its own."""

    def __init__(self, path: str, prefix: str, kube: Kube, console: Console, clock: Clock) -> None:
        """`path` is the pod's path in the API."""
        self._path, self._prefix, self._kube, self._console, self._clock = f"{path}/log", prefix, kube, console, clock
        self._last, self._recent = "", Counter[str]()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def over(self) -> None:
        """The pod has ended: its log is complete."""
        self._over.set()

    def join(self, timeout_s: float) -> bool:
        """Wait until all of it is printed; False if that takes longer."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            complete = self._over.is_set()
            try:
                self.follow()
            except Refused:  # the pod is deleted, or has no log yet
                pass
            except Unreachable:
                complete = False
            if complete:
                return
            self._over.wait(AGAIN_S)

    def follow(self) -> None:
        """Print the rest of the log as it comes. Raises Refused, Unreachable."""
        # the kubelet writes nanoseconds, but accepts whole seconds only
        since = {"sinceTime": f"{self._last[:19]}{self._last[29:]}"} if self._last else {}
        # stdout and stderr have separate writers, so time stamps may be out of order. Within one second, the whole
        # text of a line shows whether it was printed
        printed, from_second = Counter(self._recent), self._last[:19]
        for line in self._kube.lines(self._path, follow="true", timestamps="true", **since):
            if printed[line] or line[:19] < from_second:
                printed[line] -= 1
                continue
            self._remember(line)
            self._console.print(f"{self._prefix}{line.partition(' ')[2]}")

    def _remember(self, line: str) -> None:
        """Keep the lines that another request for the last second would bring again."""
        stamp = line.partition(" ")[0]
        if stamp[:19] > self._last[:19]:
            self._recent.clear()
        self._last = max(self._last, stamp)
        self._recent[line] += 1


def last_lines(path: str, kube: Kube) -> list[str]:
    """The last lines of a pod's log; none after an error."""
    try:
        return list(kube.lines(f"{path}/log", tailLines=str(LAST_LINES)))
    except (Refused, Unreachable):
        return []
