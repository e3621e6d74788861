# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads switches one after the other and writes their metrics, until it is stopped.

Each reading has a thread, so that a switch that hangs delays no other one. All else happens in one thread. How a switch
is read is a parameter: this file knows no system and no SSH.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable

from ..core.converge import DeviceError
from . import exposition
from .schedule import FAILED, READ, REFUSED, Schedule
from .switch_samples import Counter, Ends, Reading, judged, page, reading_of, samples

WRITE_S = 5.0
"""Between two versions of the file: with 64 switches there is a reading each second."""
FRESH = 2
"""A reading counts for so many intervals after its end, and for as long as it took."""


class LoginRefused(DeviceError):
    """The switch does not let the account in."""


def one_reading(name: str, read: Callable[[str], Mapping[str, Any]]) -> Reading:
    """Read a switch. `read` returns what M(drawbridge.drawbridge.switch_state) returns, or raises DeviceError."""
    begun = time.monotonic()
    try:
        state = read(name)
        return reading_of(state, time.time(), time.monotonic() - begun)
    except DeviceError as err:
        why, refused = str(err), isinstance(err, LoginRefused)
    except Exception as err:  # whatever one switch says, the others are read
        why, refused = f"{type(err).__name__}: {err}", False
    return Reading(time.time(), time.monotonic() - begun, why_none=why, refused=refused)


@dataclass
class _Switch:
    """One switch, and its last reading."""

    ends: Ends
    text: str = ""
    """Its metrics from the last reading."""
    fresh_until: float = 0.0
    completed: float | None = None
    seen: frozenset[Counter] = frozenset()
    """Counters of lossless classes that it has had."""
    seconds: float = 0.0
    """Duration of its last reading, if it answered."""
    said: str = ""


class Reader:
    """Reads switches in turns. `read` is that of one_reading(); `write` takes the whole file, `say` a line."""

    def __init__(
        self,
        switches: Mapping[str, Ends],
        interval_s: float,
        parallel: int,
        read: Callable[[str], Mapping[str, Any]],
        write: Callable[[str], None],
        say: Callable[[str], None],
    ) -> None:
        self._switches = {name: _Switch(ends) for name, ends in switches.items()}
        self._interval_s, self._parallel = interval_s, parallel
        self._read, self._write, self._say = read, write, say
        # the handler of a signal may put into it while this thread waits for it
        self._ended: queue.SimpleQueue[tuple[str, Reading] | None] = queue.SimpleQueue()
        self._written, self._changed, self._late, self._held = 0.0, False, False, False

    def stop(self) -> None:
        """End run(), from any thread or from the handler of a signal."""
        self._ended.put(None)

    def run(self) -> None:
        """Read and write until stop(). Readings that go on then are left alone."""
        now = time.monotonic()
        schedule = Schedule(list(self._switches), self._interval_s, self._parallel, now)
        for switch in self._switches.values():
            switch.fresh_until = now + FRESH * self._interval_s
        self._publish(now - WRITE_S)  # the first reading is in the file at once
        while True:
            for name in schedule.begin(time.monotonic()):
                threading.Thread(target=self._one, args=(name,), daemon=True).start()
            now = time.monotonic()
            pause = min(WRITE_S, self._interval_s) if self._changed else self._interval_s
            next_write = self._written + pause - now
            if next_write <= 0:
                self._publish(now)
                continue
            try:
                ended = self._ended.get(timeout=min(schedule.wait_s(now), next_write))
            except queue.Empty:
                continue
            if ended is None:
                return
            self._take(*ended, schedule)

    def _one(self, name: str) -> None:
        self._ended.put((name, one_reading(name, self._read)))

    def _take(self, name: str, reading: Reading, schedule: Schedule) -> None:
        now, switch = time.monotonic(), self._switches[name]
        verdict = judged(name, reading, switch.ends, switch.seen)
        switch.seen |= verdict.has
        switch.completed = reading.at if verdict.complete else switch.completed
        switch.seconds = 0 if reading.why_none else reading.seconds
        switch.fresh_until = now + FRESH * self._interval_s + reading.seconds
        switch.text = exposition.text(samples(name, reading, switch.ends, verdict.complete, switch.completed))
        wait_s = schedule.end(name, REFUSED if reading.refused else FAILED if reading.why_none else READ, now)
        if verdict.said != switch.said:
            self._say(f"{verdict.said}; next try in {wait_s:.0f} s" if reading.why_none else verdict.said)
        switch.said = verdict.said
        self._changed = True
        hold_s = schedule.hold_s(now)
        if hold_s and not self._held:
            self._say(f"all switches wait for {hold_s:.0f} s: a password that none takes could lock the account")
        self._held = bool(hold_s)
        self._compare_with_interval()

    def _compare_with_interval(self) -> None:
        """Say once that readings take too long."""
        needed = sum(it.seconds for it in self._switches.values()) / self._parallel
        late = needed > self._interval_s
        if late and not self._late:
            self._say(
                f"{len(self._switches)} switches take {needed:.0f} s, {self._parallel} at a time, and the interval is"
                f" {self._interval_s:g} s; raise drawbridge_telemetry.switches.parallel or seconds"
            )
        self._late = late

    def _publish(self, now: float) -> None:
        """Write the file. A switch without a reading of late is down, and has no values."""
        for name, switch in self._switches.items():
            if now > switch.fresh_until:
                old = Reading(0, 0, why_none="there is no reading of late")
                switch.text = exposition.text(samples(name, old, switch.ends, False, switch.completed))
        self._write(page(switch.text for switch in self._switches.values()))
        self._written, self._changed = now, False
