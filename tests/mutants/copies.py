# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A scratch copy of the tree, in which one defect at a time is planted and a jury hears the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

from tests.collection.installed import export
from tests.mutants.table import Defect, Seen

TIMEOUT_S = 600.0
"""One defect may make a test wait for what never comes."""


class Copy:
    """What git tracks, and a jury beside it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._plantings = 0
        export(root)
        (root / ".venv").symlink_to(Path(sys.prefix))
        # CI makes hypothesis take the same examples each time; the files compiled once serve all defects
        environment = {**os.environ, "CI": "true", "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": ""}
        self._jury = subprocess.Popen(
            [sys.executable, "-m", "tests.mutants.jury"],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Copy:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._jury.communicate()

    def hear(self, tests: list[str], all: bool = False, timeout_s: float = TIMEOUT_S) -> list[Seen]:
        """The results of tests in the copy as it is. A test that does not end has a result, too."""
        assert self._jury.stdin and self._jury.stdout
        self._jury.stdin.write(json.dumps({"tests": tests, "all": all, "timeout_s": timeout_s}) + "\n")
        self._jury.stdin.flush()
        told = json.loads(self._jury.stdout.readline())
        return [Seen(tests[0], "call", "endless", "")] if told is None else [Seen(*it) for it in told]

    @contextmanager
    def planted(self, mutant: Defect) -> Iterator[None]:
        """The copy with the defect in it."""
        path = self.root / mutant.file
        before, times = path.read_text(), path.stat()
        path.write_text(mutant.apply(before))
        # A second that no other defect had, or Python would take what it compiled of one for another of the same size.
        self._plantings += 1
        os.utime(path, (times.st_atime, times.st_mtime - 1 - self._plantings))
        try:
            yield
        finally:
            path.write_text(before)
            os.utime(path, (times.st_atime, times.st_mtime))


def spread[T](copies: Sequence[Copy], jobs: Sequence[Callable[[Copy], T]]) -> Iterator[T]:
    """The result of each job, in their order; each has a copy for itself while it lasts."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for each in copies:
        free.put(each)

    def done(job: Callable[[Copy], T]) -> T:
        place = free.get()
        try:
            return job(place)
        finally:
            free.put(place)

    with ThreadPoolExecutor(len(copies)) as pool:
        yield from pool.map(done, jobs)
