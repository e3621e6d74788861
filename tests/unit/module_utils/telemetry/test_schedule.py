# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The turns of switches, with a clock that stands still until the test moves it."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.schedule import (
    FAILED,
    LONGEST,
    READ,
    REFUSALS,
    REFUSED,
    Schedule,
)

SWITCHES = [f"leaf{number:02}" for number in range(1, 65)]
MINUTE = 60.0
Turns = list[tuple[float, str, str]]


def played(
    result: Callable[[str, float], str],
    until: float,
    names: list[str] = SWITCHES,
    parallel: int = 4,
    takes: float = 0.5,
) -> tuple[Turns, int]:
    """All turns that end before a time, with their begin, and how many went on at the same time."""
    now = 0.0
    schedule = Schedule(names, MINUTE, parallel, now)
    going: list[tuple[float, str]] = []
    turns: Turns = []
    most = 0
    while now < until:
        for name in schedule.begin(now):
            heapq.heappush(going, (now + takes, name))
        most = max(most, len(going))
        pause = schedule.wait_s(now)
        assert pause >= 0
        if going and going[0][0] <= now + pause:
            now, name = heapq.heappop(going)
            turns.append((now - takes, name, result(name, now)))
            schedule.end(name, turns[-1][2], now)
        else:
            now += max(pause, 0.001)
    return turns, most


def begins(turns: Turns, name: str) -> list[int]:
    return [round(begun) for begun, found, _result in turns if found == name]


def test_switches_are_spread_over_the_interval_and_each_is_read_once_in_it() -> None:
    turns, most = played(lambda *_: READ, 10 * MINUTE)
    assert Counter(int(begun // MINUTE) for begun, *_others in turns) == dict.fromkeys(range(10), 64)
    assert most == 1, "64 readings of half a second need no second login at the same time"
    assert max(Counter(int(begun) for begun, *_others in turns).values()) <= 2
    assert begins(turns, "leaf33") == [30 + 60 * turn for turn in range(10)]


@pytest.mark.parametrize("parallel", [1, 3])
def test_not_more_logins_than_allowed_go_on_and_no_switch_is_left_behind(parallel: int) -> None:
    """They take longer than the interval has."""
    turns, most = played(lambda *_: READ, 20 * MINUTE, parallel=parallel, takes=10)
    assert most == parallel
    counts = Counter(name for _begun, name, _result in turns)
    assert set(counts) == set(SWITCHES)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_a_reading_that_takes_longer_than_the_interval_loses_turns_and_keeps_its_place() -> None:
    turns, _most = played(lambda *_: READ, 10 * MINUTE, ["leaf01", "leaf02"], takes=70)
    assert begins(turns, "leaf02") == [30, 150, 270, 390, 510]


def test_a_switch_that_fails_is_tried_less_and_less_often_and_disturbs_no_other() -> None:
    turns, _most = played(lambda name, _now: FAILED if name == "leaf02" else READ, 70 * MINUTE)
    tries = [minute // 60 for minute in begins(turns, "leaf02")]
    assert tries == [0, 1, 3, 7, 15, 31, 47, 63]
    assert tries[-1] - tries[-2] == LONGEST
    assert len(begins(turns, "leaf03")) == 70


def test_one_success_ends_the_pauses() -> None:
    turns, _most = played(lambda name, now: FAILED if name == "leaf02" and now < 200 else READ, 20 * MINUTE)
    assert [minute // 60 for minute in begins(turns, "leaf02")] == [0, 1, 3, *range(7, 20)]


def test_a_refused_password_is_not_tried_again_soon() -> None:
    turns, _most = played(lambda name, _now: REFUSED if name == "leaf02" else READ, 40 * MINUTE)
    assert [minute // 60 for minute in begins(turns, "leaf02")] == [0, LONGEST, 2 * LONGEST]
    assert len(begins(turns, "leaf03")) == 40, "it works there, so the account is not locked"


def test_a_password_that_no_switch_takes_does_not_lock_the_account() -> None:
    """All 64 switches may ask one server, which locks after few refusals in a quarter of an hour."""
    turns, most = played(lambda *_: REFUSED, 60 * MINUTE)
    times = [begun for begun, *_others in turns]
    assert most <= REFUSALS
    for begin in times:
        assert sum(begin <= time < begin + 15 * MINUTE for time in times) <= REFUSALS
    assert len({name for _begun, name, _result in turns}) == len(turns), "each time another switch"


def test_a_password_that_changes_under_a_running_reader_is_tried_few_times() -> None:
    turns, _most = played(lambda _name, now: REFUSED if now > 300 else READ, 20 * MINUTE)
    refused = [begun for begun, _name, result in turns if result == REFUSED]
    assert sum(begun < 300 + 15 * MINUTE for begun in refused) <= REFUSALS


def test_after_a_hold_one_login_that_works_brings_all_back() -> None:
    turns, _most = played(lambda _name, now: REFUSED if now < 120 else READ, 40 * MINUTE)
    last = Counter(name for begun, name, _result in turns if begun >= 30 * MINUTE)
    assert len(last) == 64
    assert set(last.values()) == {10}


def test_how_long_all_switches_wait_is_known() -> None:
    schedule = Schedule(SWITCHES, MINUTE, 4, 0.0)
    for name in schedule.begin(10.0):
        assert schedule.hold_s(10.0) == 0
        schedule.end(name, REFUSED, 10.0)
    assert schedule.hold_s(10.0) == schedule.wait_s(10.0) == LONGEST * MINUTE
    assert schedule.hold_s(10.0 + LONGEST * MINUTE) == 0


def test_two_switches_with_another_password_hold_no_others_back() -> None:
    turns, _most = played(lambda name, _now: REFUSED if name in SWITCHES[:2] else READ, 40 * MINUTE, takes=3)
    assert len(begins(turns, "leaf64")) >= 40 - LONGEST - 1


def test_a_dead_switch_does_not_keep_the_first_logins_from_others() -> None:
    schedule = Schedule(SWITCHES[:3], MINUTE, 4, 0.0)
    assert schedule.begin(50.0) == ["leaf01", "leaf02"]
    assert schedule.begin(50.0) == [], "no password has worked yet"
    schedule.end("leaf01", FAILED, 51.0)
    assert schedule.begin(51.0) == ["leaf03"]
    schedule.end("leaf03", READ, 52.0)
    assert schedule.begin(200.0) == ["leaf03", "leaf01"]
