# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from roles.drawbridge_run.files.gate.api import Unreachable
from roles.drawbridge_run.files.run.kube import Kube
from roles.drawbridge_run.files.run.logs import Follower
from tests.unit.roles.drawbridge_run.doubles import StillClock
from tests.unit.roles.drawbridge_run.job import Paper

STAMP = "2025-11-21T10:00:0{}.000000000+01:00 line {}"


class Breaking(Kube):
    """Breaks off once, and then sends whole seconds again, as it is asked to."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def lines(self, path: str, **query: str) -> Iterator[str]:
        self.asked.append(query.get("sinceTime", ""))
        if len(self.asked) == 1:
            yield from (STAMP.format(number, number) for number in (1, 2))
            raise Unreachable("broken off")
        yield from (STAMP.format(number, number) for number in (2, 3))


def test_nothing_is_lost_or_repeated_when_a_connection_breaks(tmp_path: Path) -> None:
    kube, paper = Breaking(), Paper()
    follower = Follower("/pods/a", "", kube, paper, StillClock())
    follower.over()
    follower.start()
    follower.join(10)
    assert paper.printed == ["line 1", "line 2", "line 3"]
    assert kube.asked[:2] == ["", "2025-11-21T10:00:02+01:00"]


class Crossing(Kube):
    """Two writers: the second line was stamped before the first. The whole second comes again with each request."""

    def __init__(self) -> None:
        self.asked = 0

    def lines(self, path: str, **query: str) -> Iterator[str]:
        self.asked += 1
        yield "2025-11-21T10:00:01.000000002+01:00 from stderr"
        yield "2025-11-21T10:00:01.000000001+01:00 from stdout"
        if self.asked == 1:
            raise Unreachable("broken off")


def test_lines_of_two_writers_that_cross_are_printed_once_each(tmp_path: Path) -> None:
    kube, paper = Crossing(), Paper()
    follower = Follower("/pods/a", "", kube, paper, StillClock())
    follower.over()
    follower.start()
    assert follower.join(10)
    assert paper.printed == ["from stderr", "from stdout"]
    assert kube.asked > 1
