# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's own record in Slurm, read with sinfo and changed with scontrol in a bounded time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable
from pathlib import Path

from ...core.converge import DeviceError
from ...proof.tools.output import first_line, stopped
from ..decide import Seen
from ..finding import Finding, counting, written
from .look_io import Host
from .own_record import LISTING, Change, at_intervals, listed, seen, unanswered

ANSWER_S = 8.0
"""Limit of each call of sinfo or scontrol."""


class Record:
    """The record of this node."""

    def __init__(self, node: str, host: Host) -> None:
        self._node, self._host = node, host

    def read(self) -> Seen:
        """The node as Slurm has it. Raises DeviceError."""
        found = listed(self._run(*LISTING, f"--nodes={self._node}"), self._node)
        if found:
            return found
        try:
            return seen(self._run("scontrol", "show", "node", self._node), self._node)
        except ValueError as err:
            raise DeviceError(str(err)) from err

    def change(self, change: Change) -> None:
        """Make the change. Raises DeviceError."""
        if change.words:
            self._run("scontrol", "update", f"nodename={self._node}", *change.words)

    def _run(self, *argv: str) -> str:
        done = self._host.run(argv, ANSWER_S)
        if done.code:
            raise DeviceError(f"{argv[0]}: {stopped(done.code) or first_line(done.stderr, done.stdout) or done.code}")
        return done.stdout


def report(
    record: Record, found: Iterable[Finding], report_only: Collection[str], returns: bool, stamp: Path
) -> Change:
    """Report all findings of a look at intervals. `stamp` keeps since when they are unanswered. Raises DeviceError."""
    findings, node = written(found), record.read()
    waited_s = _waited(stamp, unanswered(node, counting(findings, report_only)))
    change = at_intervals(node, findings, report_only, returns, waited_s)
    record.change(change)
    return change


def _waited(stamp: Path, waits: bool) -> float:
    """Seconds since the first call with `waits` after one without. The folder of the file is gone after a boot."""
    now = time.monotonic()
    if not waits:
        stamp.unlink(missing_ok=True)
        return 0.0
    with contextlib.suppress(OSError, ValueError):
        return max(0.0, now - float(stamp.read_text()))
    stamp.write_text(str(now))
    return 0.0
