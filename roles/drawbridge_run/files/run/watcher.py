# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Queues all changes of a workload's pods, also across broken connections."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any, NamedTuple

from ..gate.api import Unreachable
from ..gate.clock import Clock
from ..gate.config import Refused
from .kube import Kube

AGAIN_S = 2.0
REFUSED_S = 60.0  # an API server that has just started may refuse requests for a moment
LIST, CHANGE, GONE, SILENT, END_REQUESTED, SIGNAL = "list", "change", "gone", "silent", "asked", "signal"


class Update(NamedTuple):
    """A message for `launch`, by kind.

    LIST: all pods. CHANGE: one pod. GONE, SILENT: an error of the API server. END_REQUESTED: the trouble that a signal
    means. SIGNAL: a signal's number for the pods.
    """

    kind: str
    what: Any


class Watcher:
    """A thread that lists and watches pods until the job loses its rights."""

    def __init__(self, path: str, selector: str, kube: Kube, clock: Clock, queue: SimpleQueue[Update]) -> None:
        self._path, self._selector, self._kube, self._clock, self._queue = path, selector, kube, clock, queue

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        refused = 0.0
        while True:
            try:
                self.watch()
                refused = 0.0
            except Unreachable as err:
                self._queue.put(Update(SILENT, str(err)))
                refused = 0.0
            except Refused as err:
                refused = refused or self._clock.now()
                if self._clock.now() - refused >= REFUSED_S:
                    self._queue.put(Update(GONE, str(err)))
                    return
            self._clock.sleep(AGAIN_S)

    def watch(self) -> None:
        """All pods once, then every change until the server ends the answer. Raises Refused, Unreachable."""
        found = self._kube.items(self._path, labelSelector=self._selector)
        self._queue.put(Update(LIST, found.get("items") or []))
        version = found["metadata"]["resourceVersion"]
        while version:
            version = self._changes(version)

    def _changes(self, version: str) -> str:
        """The last version seen; "" without changes: then list again."""
        last = ""
        for change in self._kube.changes(self._path, version, labelSelector=self._selector):
            self._queue.put(Update(CHANGE, change))
            last = str(change["object"]["metadata"]["resourceVersion"])
        return last
