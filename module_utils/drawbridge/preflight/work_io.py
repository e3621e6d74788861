# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Bounded work of probes: tools, files, and calls side by side."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Callable, TypeVar

from ..core.command import Run, tool
from ..core.converge import DeviceError

AT_ONCE = 64
Want = Mapping[str, Any]
Probe = Callable[[Want, Run], Any]
K = TypeVar("K", bound=Hashable)


def together(calls: Mapping[K, Callable[[], Any]], limit_s: float) -> dict[K, Any]:
    """Results or exceptions of calls. A call without a result in time is missing.

    Threads are daemons, so that a call that hangs can't keep the module from its end.
    """
    work: queue.SimpleQueue[K] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[K, Any]] = queue.SimpleQueue()
    for key in calls:
        work.put(key)
    for _index in range(min(AT_ONCE, len(calls))):
        threading.Thread(target=_labour, args=(calls, work, done), daemon=True).start()
    end = time.monotonic() + limit_s
    found: dict[K, Any] = {}
    while len(found) < len(calls):
        try:
            key, result = done.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            break
        found[key] = result
    return found


def _labour(calls: Mapping[K, Callable[[], Any]], work: Any, done: Any) -> None:
    while True:
        try:
            key = work.get_nowait()
        except queue.Empty:
            return
        try:
            done.put((key, calls[key]()))
        except Exception as err:  # a call that breaks is a finding, and must not end the others
            done.put((key, err))


def read(path: str) -> str:
    """A file's text; empty if it does not exist."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def said(run: Run, *argv: str) -> str | None:
    """Output of a tool; None if it is not installed or fails."""
    try:
        return run([tool(argv[0]), *argv[1:]]).out
    except DeviceError:
        return None
