# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How a change on a switch comes into force, and what becomes of it unless it is proven.

A system's text gives the lines. Which of them are typed, when, and over which connection follows from the strategy.
Functions take the name of the change's session. A text can be several lines, which are typed one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .section import Lines

Sections = tuple[tuple[str, Lines], ...]


def no_text(name: str) -> str:
    """Nothing to type."""
    del name
    return ""


def no_lines(name: str, seconds: int) -> Lines:
    """Nothing to type."""
    del name, seconds
    return ()


def no_time(lines: Lines) -> int:
    """The time until a roll-back begins after the lines."""
    del lines
    return 0


@dataclass(frozen=True)
class Strategy:
    """What all strategies have. `own` is Config.own: what the system's parser found for its strategy."""

    change: Callable[[str, int, Lines, Any], Lines]
    """(session, seconds, the candidate's lines, own) -> all lines to type. They put the candidate in force as one
    session, which is rolled back after so long."""
    abort: Callable[[str], str]
    """Drops a session that is not in force; it changes nothing of another user's."""
    roll_back: Callable[[str], str] = no_text
    """Rolls back a session that is in force for a time."""

    def seconds(self, wanted: int, lines: Lines) -> int:
        """Seconds from the first line until the roll-back, of which as many as wanted are left after the last line."""
        del lines
        return wanted

    def tidied(self, name: str) -> str:
        """Takes away what would have rolled a session back, once the session is seen to be kept."""
        return no_text(name)

    def confirmation(self, name: str) -> str:
        """Keeps a session that is in force, typed over any connection; "" where that can't be."""
        return no_text(name)

    def kept_by_its_own(self, name: str, seconds: int) -> Lines:
        """Lines that keep a session, typed over the connection that made it, which stays open; none if any can."""
        return no_lines(name, seconds)

    def earlier(self, own: Any) -> Sections | None:
        """The owned lines to which a run goes back if a change fails; None where the switch does by itself."""
        del own
        return None


@dataclass(frozen=True)
class Timer(Strategy):
    """The switch rolls a change back unless it is confirmed in time."""

    confirm: Callable[[str], str] = no_text
    unit_s: int = 1
    """What the time is counted in. A time between two of them is rounded up."""
    takes_s: Callable[[Lines], int] = no_time
    """Seconds that the lines take while the time runs; 0 if it begins after them."""

    def seconds(self, wanted: int, lines: Lines) -> int:
        return -(-(wanted + self.takes_s(lines)) // self.unit_s) * self.unit_s

    def confirmation(self, name: str) -> str:
        return self.confirm(name)


@dataclass(frozen=True)
class Job(Timer):
    """A job on the switch rolls a change back. It is armed first, so that it may begin in the middle of the lines."""

    tidy: Callable[[str], str] = no_text

    def tidied(self, name: str) -> str:
        return self.tidy(name)


@dataclass(frozen=True)
class HeldSession(Strategy):
    """The switch rolls a change back unless the SSH session that made it keeps it."""

    keep: Callable[[str, int], Lines] = no_lines

    def kept_by_its_own(self, name: str, seconds: int) -> Lines:
        return self.keep(name, seconds)


@dataclass(frozen=True)
class SavedStartup(Strategy):
    """Nothing rolls a change back: the lines that lead to the saved configuration are typed. `own` has its owned lines.

    What such a switch runs and has not saved is unproven.
    """

    def earlier(self, own: Any) -> Sections | None:
        return own


def always(strategy: Strategy) -> Callable[[Any], Strategy]:
    """For a system whose releases all make a change in one way."""
    return lambda own: strategy
