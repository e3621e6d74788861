# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of checks on a node, bounded in time, and reads files."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...core.command import Child
from ..checks.check import Output, Program, Texts

TIMED_OUT, NOT_INSTALLED, NOT_EXECUTABLE = 124, 127, 126
"""Exit codes, as `timeout` and shells have them."""
MOST_BYTES = 1 << 20
"""Of a file that is read."""
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
            self._child.wait(WHOLE_S)


def run(program: Program, scratch: Path) -> Output:
    """Run one program of a check to its end, in its folder, which exists only for so long."""
    if not program.folder:
        return _ended(program, scratch)
    folder = Path(program.folder)
    try:
        _remove(folder)
        # without parents: a directory that is not mounted must not appear on the root disk
        folder.mkdir(mode=0o700)
    except OSError as err:
        return Output("", f"{folder} can't be made: {err.strerror}", NOT_EXECUTABLE)
    try:
        return _ended(program, scratch)
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """What is left of a worker that was killed. A link that another user put in its place is not followed."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


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
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MOST_BYTES)
    except OSError:
        return ""
