# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs the checks of a node: all programs at once, files in a process of their own, all bounded in time.

A process that hangs in the kernel can't be killed. It keeps the lock of its command, and no second one is started.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Generic, TypeVar

from ...core.files import write_bytes
from ...proof.checks.check import Check, Output, Program, Texts
from ...proof.checks.collect import files, programs
from ...proof.checks.watch_rates import COUNTERS, sample
from ...proof.checks.watch_system import IDLE
from ...proof.node import ProofNode
from ..finding import Finding
from ..rows import HEALTH, checks_at, limit_s
from . import files_io
from .look import HELD, NHC, Files, Look, confirmed, idle, look, nhc, together, words
from .node_settings import NodeSettings

FILES_S, NHC_S = 5.0, 15.0
FIRST = 1 / 3
"""Share of the time for the first look."""
END_S = 0.5
"""For a killed program to end."""
PAUSE_S = 0.02
MOST_BYTES = 1 << 20
"""Of an output from its end, where messages are newest."""
NHC_WORDS = ("MARK_OFFLINE=0", "DETACHED_MODE=0")
"""NHC changes no node in Slurm, and its answer is of this run. Its detached child would not know the first word."""
JOBS = ("/proc/[0-9]*/comm", "/proc/[0-9]*/cgroup")
SERIALS = ("dmidecode", "--type", "system", "--type", "baseboard")
TIMED_OUT, NOT_INSTALLED, NOT_EXECUTABLE = 124, 127, 126
T = TypeVar("T")


@dataclass(frozen=True)
class Host:
    """This host's programs and files, until a time of the monotonic clock.

    Outputs are files in memory, so that a full disk has no part in them and no program waits for a reader.
    """

    root: str
    """Prefix of all files."""
    locks: Path
    path: str
    """PATH of the programs."""
    until: float

    def shared(self) -> Host:
        """The same with a part of the time, so that a second look has twice as much."""
        return replace(self, until=time.monotonic() + self.left(math.inf) * FIRST)

    def left(self, seconds: float) -> float:
        """So many seconds, or the rest of the time."""
        return max(0.0, min(seconds, self.until - time.monotonic()))

    def run(self, argv: Sequence[str], seconds: float, lock: str = "", most: int = MOST_BYTES) -> Output:
        """One command. With the name of a lock it starts only if no earlier one still holds that."""
        with contextlib.ExitStack() as stack:
            held = stack.enter_context(_locked(self.locks / f"{lock}.lock")) if lock else None
            if held is not None and not _taken(held, time.monotonic() + self.left(seconds)):
                return Output("", "", HELD)
            out, err = (stack.enter_context(tempfile.TemporaryFile(dir=self.locks)) for _stream in range(2))
            code = self._ended(argv, self.left(seconds), out, err, held)
            return Output(_text(out, most), _text(err, most), code)

    def _ended(self, argv: Sequence[str], seconds: float, out: IO[bytes], err: IO[bytes], held: int | None) -> int:
        try:
            child = subprocess.Popen(
                [f"PATH={self.path}" if word.startswith("PATH=") else word for word in argv],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={"HOME": "/", **os.environ, "PATH": self.path, "LC_ALL": "C"},
                start_new_session=True,
                pass_fds=() if held is None else (held,),
            )
        except FileNotFoundError:
            return NOT_INSTALLED
        except OSError:
            return NOT_EXECUTABLE
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(END_S)
            return TIMED_OUT

    def read(self, patterns: Sequence[str], seconds: float, where: str = HEALTH) -> Files:
        """Files of these patterns. Each place has its own lock: a disk that hangs must not hide a dead rail."""
        if not patterns:
            return Files({})
        argv = [sys.executable, "-IS", files_io.__file__, self.root, *patterns]
        done = self.run(argv, seconds, lock=f"files-{where}", most=64 * MOST_BYTES)
        texts: dict[str, str] = {}
        begun = 0
        for line in done.stdout.splitlines():
            with contextlib.suppress(ValueError):  # the last one of a killed reader may be cut
                path, *text = json.loads(line)
                begun += not text
                texts.update({path: text[0]} if text else {})
        return Files(texts, patterns[max(0, begun - 1) :] if done.code else (), done.code)


def findings(settings: NodeSettings, where: str, host: Host, root: str = "/") -> tuple[tuple[Finding, ...], Look]:
    """The findings that count at this place, and the first look with its warnings.

    A look at intervals keeps the counters for the next one. Raises OSError if no lock can be made.
    """
    node, strict = settings.node, where == HEALTH
    checks = [check for check in checks_at(where) if check.applies(node)]
    tool = settings.nhc if where == HEALTH else ""
    ran, read, said = _look(node, checks, tool, where, host.shared())
    first = together(look(node, checks, ran, read, strict), said)
    if where == HEALTH:
        _keep(read.texts, Path(root) / COUNTERS.lstrip("/"))
    again = [check for check in checks if check.name in first.doubtful]
    tool = tool if NHC in first.doubtful else ""
    if not (again or tool):
        return confirmed(first, Look()), first
    ran, read, said = _look(node, again, tool, where, host, 2.0)
    return confirmed(first, together(look(node, again, ran, read, strict), said)), first


def _look(
    node: ProofNode, checks: Sequence[Check], tool: str, where: str, host: Host, times: float = 1.0
) -> tuple[list[tuple[Program, Output]], Files, Look]:
    """Programs and files of these checks, and what NHC says, with so many times the limits of the first look."""
    patterns = files(checks, node)
    if IDLE in patterns:
        patterns += JOBS
    reader = _Answer(lambda: host.read(patterns, FILES_S * times, where))
    sites = _Answer(lambda: nhc(host.run([tool, *NHC_WORDS], NHC_S * times, NHC), tool) if tool else Look())
    answers = [
        (one, _Answer(partial(host.run, one.argv, limit_s(one, checks, node) * times, _lock(words(one)))))
        for one in programs(checks, node)
    ]
    ran = [(one, answer.within(host, Output("", "", TIMED_OUT))) for one, answer in answers]
    said = sites.within(host, nhc(Output("", "", TIMED_OUT), tool))
    read = reader.within(host, Files({}, patterns, TIMED_OUT))
    if idle(read.texts):
        read = replace(read, texts={**read.texts, IDLE: ""})
    return ran, read, said


def facts(settings: NodeSettings, host: Host) -> str:
    """All that the checks read, and serial numbers, as one text for a vendor."""
    checks = [check for check in checks_at(HEALTH) if check.applies(settings.node)]
    calls = [(words(one), one.argv, one.seconds) for one in programs(checks, settings.node)]
    calls.append((SERIALS, SERIALS, NHC_S))
    reader = _Answer(lambda: host.read(files(checks, settings.node), FILES_S))
    answers = [(it, _Answer(partial(host.run, argv, seconds, _lock(it)))) for it, argv, seconds in calls]
    said = [(it, answer.within(host, Output("", "", TIMED_OUT))) for it, answer in answers]
    parts = [f"$ {' '.join(it)}\n{done.stdout}{done.stderr}exit code {done.code}\n" for it, done in said]
    texts = reader.within(host, Files({})).texts
    return "\n".join([*parts, *(f"{path}: {text}" for path, text in texts.items())])


class _Answer(threading.Thread, Generic[T]):
    """What a call returns, in a thread that does not hold up the end of this program."""

    def __init__(self, call: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self._found: list[T] = []
        self._error: OSError | None = None
        self.start()

    def run(self) -> None:
        """See Thread."""
        try:
            self._found = [self._call()]
        except OSError as err:
            self._error = err

    def within(self, host: Host, otherwise: T) -> T:
        """The answer, or another one if it is late. Raises the call's OSError."""
        self.join(max(0.0, host.until + 2 * END_S - time.monotonic()))
        if self._error:
            raise self._error
        return self._found[0] if self._found else otherwise


def _keep(texts: Texts, place: Path) -> None:
    """Write the counters. If that fails, the next look has no rates; other checks find a full or broken disk."""
    text = sample(texts)
    if text and text != texts.get(COUNTERS):
        with contextlib.suppress(OSError):
            write_bytes(place, text.encode(), 0o644, (os.geteuid(), os.getegid()))


def _lock(argv: Sequence[str]) -> str:
    """The name of the lock of a command."""
    return re.sub(r"[^A-Za-z0-9]+", "-", " ".join(argv))[:100]


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[int]:
    """An open lock file. Only root can open it, because any process that can open it could lock it."""
    handle = os.open(file, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


def _taken(lock: int, until: float) -> bool:
    """Whether the lock was free in time: another look, for example of a playbook, holds it for a moment."""
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(PAUSE_S)


def _text(file: IO[bytes], most: int) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - most))
    return file.read(most).decode(errors="replace")
