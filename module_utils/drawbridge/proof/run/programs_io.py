# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of checks on a node, bounded in time, and reads files."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...core.command import Child
from ..checks.check import Output, Program, Texts

TIMED_OUT, NOT_INSTALLED, NOT_EXECUTABLE = 124, 127, 126
"""Exit codes, as `timeout` and shells have them."""
MOST_BYTES = 1 << 20
"""Of a file from its start, and of an output from its end, where messages are newest."""
FOLDER_S = 30.0
"""Seconds to make or remove a folder. A stale mount gives no answer."""
WHOLE_S = 5.0
"""Seconds that a killed program's output gets to end."""


class Started:
    """A program that runs. Its output is kept in files, so that it never waits for a reader."""

    def __init__(self, argv: Sequence[str], folder: Path, name: str) -> None:
        self._out, self._err = folder / f"{name}.out", folder / f"{name}.err"
        self._child: Child | None = None
        self._code = 0
        try:
            with self._out.open("w") as out, self._err.open("w") as err:
                self._child = Child(argv, stdout=out, stderr=err)
        except FileNotFoundError:
            self._code = NOT_INSTALLED
        except OSError:
            self._code = NOT_EXECUTABLE

    @property
    def ended(self) -> bool:
        """Whether it has ended, or never began."""
        return self._child is None or self._child.poll() is not None

    def wait(self, until: float) -> Output:
        """Its output at its end, or at this time of the monotonic clock, when it is killed with its children."""
        if self._child is None:
            return Output("", "", self._code)
        try:
            self._code = self._child.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill()
            self._code = TIMED_OUT
        return Output(_text(self._out), _text(self._err), self._code)

    def kill(self) -> None:
        """End it with all its children."""
        if self._child is not None:
            self._child.end()
            # a process that waits for a device may outlive its kill
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(WHOLE_S)


def run(program: Program, scratch: Path) -> Output:
    """Run one program of a check to its end, in its folder, which exists only for so long."""
    if not program.folder:
        return _ended(program, scratch)
    # what a killed worker left goes first; rm follows no link that another user put in its place
    remove = Program(("rm", "-rf", "--", program.folder), FOLDER_S)
    # without parents: a directory that is not mounted must not appear on the root disk
    make = Program(("mkdir", "-m", "0700", "--", program.folder), FOLDER_S)
    for one in (remove, make):
        done = _ended(one, scratch)
        if done.code:
            why = done.stderr.strip() or f"no answer within {FOLDER_S:g} s"
            return Output("", f"{program.folder} can't be made: {why}", done.code)
    try:
        return _ended(program, scratch)
    finally:
        _ended(remove, scratch)


def _ended(program: Program, scratch: Path) -> Output:
    out, err = scratch / "check.out", scratch / "check.err"
    environment = {**os.environ, "LC_ALL": "C", **(program.environment or {})}
    try:
        with out.open("w") as stdout, err.open("w") as stderr:
            child = subprocess.Popen(
                list(program.argv),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=program.folder or None,
                env=environment,
                start_new_session=True,
            )
    except FileNotFoundError:
        return Output("", "", NOT_INSTALLED)
    except OSError as error:
        return Output("", str(error), NOT_EXECUTABLE)
    try:
        code = child.wait(program.seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(WHOLE_S)
        code = TIMED_OUT
    further = _text(Path(program.folder or "/") / program.output) if program.output else ""
    return Output(_text(out) + further, _text(err), code)


def read_all(patterns: Iterable[str]) -> Texts:
    """The files of these paths, each of which may have `*`. A file that can't be read is absent."""
    found = {}
    for pattern in patterns:
        for path in sorted(Path("/").glob(pattern.lstrip("/"))):
            try:
                with path.open(encoding="utf-8", errors="replace") as file:
                    found[str(path)] = file.read(MOST_BYTES)
            except OSError:
                continue
    return found


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - MOST_BYTES))
            return file.read(MOST_BYTES).decode(errors="replace")
    except OSError:
        return ""
