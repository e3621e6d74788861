# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Storage Scale's mm* commands: reads in the -Y form, changes that wait for the cluster's lock."""

from __future__ import annotations

import random
import re
import time
from typing import Any, Callable

from ...core.command import Completed, Run
from ...core.converge import DeviceError
from .text import Row, UnreadableAnswer, parse

MM_PATH = "/usr/lpp/mmfs/bin"
LONGEST_PAUSE_S = 30.0

_LOCK_BUSY = re.compile(
    r"Timed out waiting for lock|lock is busy|lock for file system .* is busy|6027-(1229|1950|2144)"
)
_NO_MEMBER = re.compile(r"does not belong to a GPFS cluster|6027-1382")
_CLOSING = re.compile(r"Command failed\. +Examine previous error messages")


class NotAMember(DeviceError):
    """The host belongs to no cluster, or has no configuration of it yet."""


class Mm:
    """Runs mm* commands from `mm_path`; a change retries for `lock_wait_s` while the cluster's lock is busy."""

    def __init__(
        self, run: Run, mm_path: str, lock_wait_s: float = 0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._run, self._mm_path, self._lock_wait_s, self._sleep = run, mm_path, lock_wait_s, sleep

    def read(self, verb: str, *arguments: str) -> dict[str, list[Row]]:
        """The rows that a command prints, by record type. Raises DeviceError, also for other text."""
        done = self._call(verb, *arguments, "-Y")
        if done.out and not done.out.endswith("\n"):
            raise DeviceError(f"{verb}: the answer ends within a line", stdout=done.out, stderr=done.err)
        try:
            return parse(done.out, verb)
        except UnreadableAnswer as err:
            raise DeviceError(f"{verb}: {err}", stdout=done.out, stderr=done.err) from err

    def show(self, verb: str, *arguments: str) -> str:
        """What a command prints for people, for those without a documented -Y form. Raises DeviceError."""
        done = self._call(verb, *arguments)
        if done.out and not done.out.endswith("\n"):
            raise DeviceError(f"{verb}: the answer ends within a line", stdout=done.out, stderr=done.err)
        return done.out

    def change(self, verb: str, *arguments: str) -> Completed:
        """Run a command that changes something. It retries only for a busy lock, with growing pauses."""
        deadline, pause = time.monotonic() + self._lock_wait_s, 1.0
        while True:
            try:
                return self._call(verb, *arguments)
            except DeviceError as err:
                if not _LOCK_BUSY.search(_output(err.details)) or time.monotonic() + pause > deadline:
                    raise
            self._sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, LONGEST_PAUSE_S)

    def _call(self, verb: str, *arguments: str) -> Completed:
        try:
            return self._run([f"{self._mm_path}/{verb}", *arguments])
        except DeviceError as err:
            if _NO_MEMBER.search(_output(err.details)):
                raise NotAMember(f"{verb}: this host belongs to no GPFS cluster", **err.details) from err
            if isinstance(err.__cause__, OSError):
                missing = f"{err}; install Storage Scale's packages, or correct mm_path, which is {self._mm_path}"
                raise DeviceError(missing, **err.details) from err
            if "rc" not in err.details:
                raise
            raise DeviceError(f"{verb} failed: {reason(verb, _output(err.details))}", **err.details) from err


def reason(verb: str, text: str) -> str:
    """A command's output in one line, without its name and the closing line that every failure has."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _CLOSING.search(line)]
    prefix = f"{verb}:"
    return " ".join(line[len(prefix) :].strip() if line.startswith(prefix) else line for line in lines) or "no output"


def _output(details: dict[str, Any]) -> str:
    return f"{details.get('stderr', '')}\n{details.get('stdout', '')}"
