# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""When which switch is read: spread over the interval, few at the same time, less often while a switch fails.

A wrong password must not lock an account, which may be one account for all switches. So a switch that refuses the login
waits the longest at once, and so do all switches after two refusals without a login that worked.
"""

from __future__ import annotations

from collections.abc import Sequence

READ, FAILED, REFUSED = "read", "failed", "refused"
LONGEST = 16
"""Intervals between two tries of a switch that fails."""
REFUSALS = 2
"""After so many refusals in a row, all switches wait. Accounts are usually locked after three or more."""


class Schedule:
    """The turns of all switches. Times are those of a clock that never goes back."""

    def __init__(self, names: Sequence[str], interval_s: float, parallel: int, now: float) -> None:
        """Spread the switches evenly. Each keeps its place in the interval, also after failures."""
        self._interval_s, self._parallel = interval_s, parallel
        self._due = {name: now + at * interval_s / len(names) for at, name in enumerate(names)}
        self._running: dict[str, float] = {}
        self._failures = dict.fromkeys(names, 0)
        self._refusals, self._trusted, self._held = 0, False, now

    def begin(self, now: float) -> list[str]:
        """Switches whose turn begins now, the longest due first."""
        found: list[str] = []
        for name, due in sorted(self._due.items(), key=lambda item: item[1]):
            if due > now or not self._has_room(now):
                break
            self._running[name] = self._due.pop(name)
            found.append(name)
        return found

    def end(self, name: str, result: str, now: float) -> float:
        """A switch's turn is over; seconds until the next one."""
        place, interval = self._running.pop(name), self._interval_s
        if result == READ:
            self._failures[name], self._refusals, self._trusted, self._held = 0, 0, True, now
            turns = int((now - place) // interval) + 1
        else:
            self._failures[name] += 1
            pause = LONGEST if result == REFUSED else min(LONGEST, 2 ** (self._failures[name] - 1))
            turns = round((now - place) / interval + pause)
        if result == REFUSED:
            self._refuse(now)
        self._due[name] = place + turns * interval
        return max(self._due[name], self._held) - now

    def wait_s(self, now: float) -> float:
        """Seconds until the next turn can begin, unless one ends before."""
        if not self._due or not self._has_room(max(now, self._held)):
            return self._interval_s
        return max(self.hold_s(now), min(self._due.values()) - now)

    def hold_s(self, now: float) -> float:
        """Seconds for which all switches wait, because the password is in doubt."""
        return max(0.0, self._held - now)

    def _refuse(self, now: float) -> None:
        self._refusals += 1
        if self._refusals >= REFUSALS:
            self._held, self._trusted = now + LONGEST * self._interval_s, False
            self._refusals = REFUSALS - 1  # the next try is a single one

    def _has_room(self, now: float) -> bool:
        """Whether one more login may begin. Those in doubt count as refusals until they have worked."""
        if now < self._held or len(self._running) >= self._parallel:
            return False
        return (self._trusted and not self._refusals) or len(self._running) + self._refusals < REFUSALS
