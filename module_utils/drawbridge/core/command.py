# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Commands: bounded in time, in the C locale, never through a shell."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .converge import DeviceError


def tool(name: str) -> str:
    """Path of a tool. Raises DeviceError if it is not installed."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin")
    if not found:
        raise DeviceError(f"{name} is not installed on this host")
    return found


@dataclass(frozen=True)
class Completed:
    """Result of a command."""

    rc: int
    out: str
    err: str


class Run(Protocol):
    """A function that runs a tool; tests replace it."""

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        """Run argv and return its result. Raises DeviceError for a return code that is not in `ok`."""
        raise NotImplementedError


class Child(subprocess.Popen[str]):
    """A started program, in the C locale and in a session of its own, so that it can be ended with all its children."""

    def __init__(self, argv: Sequence[str], stdin: int = subprocess.DEVNULL, **streams: Any) -> None:
        environment = {**os.environ, "LC_ALL": "C"}
        super().__init__(
            list(argv), stdin=stdin, env=environment, start_new_session=True, text=True, errors="replace", **streams
        )

    def end(self) -> None:
        """Kill the whole session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


class Command:
    """Runs tools on this host and kills the whole process group at the time limit.

    AnsibleModule.run_command has no time limit, and vendor tools do hang.
    """

    def __init__(self, timeout_s: float, stdin: str | None = None) -> None:
        self._timeout_s, self._stdin = timeout_s, stdin

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        """Run argv; see Run."""
        tool = argv[0].rsplit("/", 1)[-1]
        try:
            stdin = subprocess.PIPE if self._stdin is not None else subprocess.DEVNULL
            process = Child(argv, stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as err:
            raise DeviceError(f"{tool} can't be run: {err.strerror}", cmd=list(argv)) from err
        try:
            out, err = process.communicate(self._stdin, timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            process.end()
            out, err = process.communicate()
            message = f"{tool} gave no answer within {self._timeout_s:g} s and was killed"
            raise DeviceError(message, cmd=list(argv), stdout=out, stderr=err) from None
        if process.returncode not in ok:
            last = (err.strip() or out.strip() or "no output").splitlines()[-1]
            raise DeviceError(f"{tool} failed: {last}", cmd=list(argv), rc=process.returncode, stdout=out, stderr=err)
        return Completed(process.returncode, out, err)
