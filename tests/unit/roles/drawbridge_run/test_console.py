# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io

from roles.drawbridge_run.files.run.console import Console
from tests.unit.roles.drawbridge_run.doubles import StillClock


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
