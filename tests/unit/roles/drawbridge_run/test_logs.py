# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The output: pods' logs, and progress."""

from __future__ import annotations

import io
from collections.abc import Iterator

from roles.drawbridge_run.files.gate.api import Unreachable
from roles.drawbridge_run.files.run.console import Console
from roles.drawbridge_run.files.run.kube import Kube
from roles.drawbridge_run.files.run.logs import Follower
from tests.unit.roles.drawbridge_run.job import Paper, StillClock

STAMP = "2025-11-21T10:00:0{}.000000000+01:00 line {}"


class Breaking(Kube):
    """Breaks off after its first lines, and then sends others for each request."""

    def __init__(self, first: list[str], then: list[str]) -> None:
        self._first, self._then, self.asked = first, then, []

    def lines(self, path: str, **query: str) -> Iterator[str]:
        self.asked.append(query.get("sinceTime", ""))
        if len(self.asked) == 1:
            yield from self._first
            raise Unreachable("broken off")
        yield from self._then


def printed(kube: Kube) -> list[str]:
    paper = Paper()
    follower = Follower("/pods/a", "", kube, paper, StillClock())
    follower.over()
    follower.start()
    assert follower.join(10)
    return paper.printed


def test_nothing_is_lost_or_repeated_when_a_connection_breaks() -> None:
    """What comes after a break begins with the whole second of the request."""
    kube = Breaking(*([STAMP.format(number, number) for number in numbers] for numbers in ((1, 2), (2, 3))))
    assert printed(kube) == ["line 1", "line 2", "line 3"]
    assert kube.asked[:2] == ["", "2025-11-21T10:00:02+01:00"]


def test_lines_of_two_writers_that_cross_are_printed_once_each() -> None:
    """The second line was stamped before the first."""
    lines = [f"2025-11-21T10:00:01.00000000{at}+01:00 from {name}" for at, name in ((2, "stderr"), (1, "stdout"))]
    kube = Breaking(lines, lines)
    assert printed(kube) == ["from stderr", "from stdout"]
    assert len(kube.asked) > 1


class Terminal(io.StringIO):
    """Says that a person reads it."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_the_last_progress_only() -> None:
    out, err = io.StringIO(), Terminal()
    console = Console(StillClock(), out, err)
    console.progress("1 of 2")
    console.progress("1 of 2")
    console.progress("2 of 2")
    console.say("done")
    said = "\r\x1b[Kdrawbridge-run: 1 of 2\r\x1b[Kdrawbridge-run: 2 of 2\r\x1b[Kdrawbridge-run: done\n"
    assert err.getvalue() == said


def test_a_log_gets_progress_when_it_takes_long_and_not_often() -> None:
    clock, err = StillClock(), io.StringIO()
    console = Console(clock, io.StringIO(), err)
    for second in range(13):
        console.progress(f"{second // 2} of 6")
        clock.sleep(1)
    assert err.getvalue() == "drawbridge-run: 2 of 6\ndrawbridge-run: 5 of 6\n"
