# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The loop over switches, whose answers are here; test_switch_systems.py has real ones."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry import switch_reader_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.switch_reader_io import (
    LoginRefused,
    Reader,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.switch_samples import Ends

from tests.waiting import until

QUICK_S, SLOW_S = 0.05, 3600.0
ENDS = Ends({"Ethernet1": ("gpu01", "0")}, ("3",))


def answer(value: int = 1, *unknown: str) -> dict[str, Any]:
    return {"ports": {"Ethernet1": {"priorities": {"3": {"rx_pause": value}}}}, "unknown": list(unknown)}


@pytest.fixture(autouse=True)
def written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reading is in a file of its own, which a test can find later."""
    monkeypatch.setattr(switch_reader_io, "WRITE_S", 0.0)


class Running:
    """A reader in a thread of its own, with what it wrote and said."""

    def __init__(self, names: list[str], interval_s: float, read: Callable[[str], Any], parallel: int = 4) -> None:
        self.pages: list[str] = []
        self.lines: list[str] = []
        ends = dict.fromkeys(names, ENDS)
        self.reader = Reader(ends, interval_s, parallel, read, self.pages.append, self.lines.append)
        self.thread = threading.Thread(target=self.reader.run, daemon=True)

    def written(self, *lines: str) -> str:
        """The first file with these lines, once it is there."""
        whole = lambda: next((page for page in self.pages if {*lines} <= {*page.splitlines()}), None)  # noqa: E731
        return until(whole, 60, f"a file has {lines}")

    def said(self, line: str) -> None:
        until(lambda: line in self.lines, 60, f"{line!r} is said")


@contextlib.contextmanager
def running(*args: Any, **named: Any) -> Iterator[Running]:
    found = Running(*args, **named)
    found.thread.start()
    until(lambda: found.pages, 60, "a first file is written")
    yield found
    found.reader.stop()
    found.thread.join(60)
    assert not found.thread.is_alive()


def up(name: str, value: int) -> str:
    return f'drawbridge_switch_up{{switch="{name}"}} {value}'


def rx(name: str, value: int) -> str:
    labels = f'switch="{name}",port="Ethernet1",node="gpu01",rail="0",priority="3",direction="rx"'
    return f"drawbridge_switch_pause_frames_total{{{labels}}} {value}"


def test_the_first_file_has_no_values_of_an_earlier_process() -> None:
    gate = threading.Event()

    def read(_name: str) -> Any:
        gate.wait(60)
        return answer()

    with running(["leaf1"], SLOW_S, read) as found:
        assert found.pages == [""]
        gate.set()
        found.written(up("leaf1", 1), rx("leaf1", 1))
        assert found.lines == ["leaf1 is read"]


def test_each_reading_replaces_the_one_before_it_and_is_said_once() -> None:
    values = iter(range(1, 1000000))
    with running(["leaf1"], QUICK_S, lambda _name: answer(next(values))) as found:
        assert rx("leaf1", 4) not in found.written(rx("leaf1", 5))
        assert found.lines == ["leaf1 is read"]


def test_a_switch_that_hangs_is_down_once_its_values_are_old_and_delays_no_other() -> None:
    hang, calls = threading.Event(), iter(range(1, 1000000))

    def read(name: str) -> Any:
        if name == "leaf1":
            return answer(7)
        if (number := next(calls)) > 1:
            hang.wait(60)
        return answer(number)

    with running(["leaf1", "leaf2"], QUICK_S, read) as found:
        found.written(up("leaf2", 1), rx("leaf2", 1))
        down = found.written(up("leaf1", 1), rx("leaf1", 7), up("leaf2", 0))
        assert 'read_timestamp_seconds{switch="leaf2"}' in down, "it says how old it is"
        assert 'total{switch="leaf2"' not in down
        hang.set()
        found.written(up("leaf2", 1), rx("leaf2", 2))


def test_a_switch_that_was_never_read_is_down_after_a_while() -> None:
    hang = threading.Event()
    with running(["leaf1"], QUICK_S, lambda _name: hang.wait(60)) as found:
        found.written(up("leaf1", 0))
    hang.set()


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (DeviceError("leaf1 gave no answer within 60 s to 'show'"), "leaf1 gave no answer within 60 s to 'show'"),
        (ValueError("of a library"), "ValueError: of a library"),
    ],
    ids=["an error of the device", "another one"],
)
def test_a_switch_that_fails_is_down_and_comes_back(error: Exception, why: str) -> None:
    outcomes: list[Any] = [answer(1), error]

    def read(_name: str) -> Any:
        found = outcomes.pop(0) if outcomes else answer(2)
        if isinstance(found, Exception):
            raise found
        return found

    with running(["leaf1"], QUICK_S, read) as found:
        found.written(up("leaf1", 1), rx("leaf1", 1))
        found.written(up("leaf1", 1), rx("leaf1", 2))
        assert "pause_frames" not in found.written(up("leaf1", 0))
        assert found.lines == ["leaf1 is read", f"leaf1 is not read: {why}; next try in 0 s", "leaf1 is read"]


def test_a_counter_that_is_gone_makes_a_reading_partial_and_the_others_stay() -> None:
    states = iter([{**answer()["ports"], "Ethernet2": {"priorities": {"3": {"rx_pause": 9}}}}])
    gap = "pause frames: rx_pause of priority 3 of Ethernet2 is not in the answer of leaf1 to 'show'"

    def read(_name: str) -> Any:
        ports = next(states, None)
        return {"ports": ports, "unknown": []} if ports else answer(1, gap)

    with running(["leaf1"], QUICK_S, read) as found:
        found.said(f"leaf1 is read in part: {gap}")
        assert 'port="Ethernet2"' not in found.written(up("leaf1", 0), rx("leaf1", 1))


def test_a_refused_login_is_not_tried_again_and_holds_the_others_back() -> None:
    tries: list[str] = []

    def read(name: str) -> Any:
        tries.append(name)
        raise LoginRefused(f"{name} refuses the login")

    with running([f"leaf{number}" for number in range(1, 65)], 100.0, read) as found:
        found.said("all switches wait for 1600 s: a password that none takes could lock the account")
        assert [line.partition(";")[0] for line in found.lines[:2]] == [
            f"{name} is not read: {name} refuses the login" for name in tries
        ]
    assert len(tries) == 2


def test_readings_that_take_longer_than_the_interval_are_said_once() -> None:
    begun = threading.Semaphore(0)

    def read(_name: str) -> Any:
        begun.release()
        threading.Event().wait(3 * QUICK_S)
        return answer()

    with running(["leaf1", "leaf2"], QUICK_S, read, parallel=1) as found:
        for _turn in range(6):
            assert begun.acquire(timeout=60)
        until(lambda: any("raise drawbridge_telemetry.switches.parallel" in it for it in found.lines), 60, "it is said")
    late = [it for it in found.lines if "raise drawbridge_telemetry.switches.parallel or seconds" in it]
    assert len(late) == 1
    assert late[0].startswith("2 switches take ") and "1 at a time, and the interval is 0.05 s" in late[0]
