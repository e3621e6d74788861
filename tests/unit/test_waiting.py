# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests of waiting."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from tests import waiting


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that only sleeping and looks move."""
    time = SimpleNamespace(now=0.0)

    def sleep(seconds: float) -> None:
        time.now += seconds

    time.sleep, time.monotonic = sleep, lambda: time.now
    monkeypatch.setattr(waiting, "time", time)
    return time


def answers(*given: Any) -> Callable[[], Any]:
    """A question with these answers, the last one for ever; exceptions are raised."""
    rest: Iterator[Any] = iter(given)
    last: list[Any] = [None]

    def ask() -> Any:
        last[0] = next(rest, last[0])
        if isinstance(last[0], Exception):
            raise last[0]
        return last[0]

    return ask


def test_the_first_true_answer() -> None:
    assert waiting.until(answers(0, "", [3]), 5, "three") == [3]


def test_a_look_that_fails_has_seen_nothing() -> None:
    assert waiting.until(answers(KeyError("gpu"), AssertionError("255"), 1), 5, "one") == 1


def test_what_never_comes_is_named_with_what_the_last_look_failed_of() -> None:
    with pytest.raises(AssertionError, match="not within 5 s: rain") as told:
        waiting.until(answers(0, KeyError("cloud")), 5, "rain")
    assert isinstance(told.value.__cause__, KeyError)
    with pytest.raises(AssertionError) as told:
        waiting.until(answers(KeyError("cloud"), 0), 5, "rain")
    assert told.value.__cause__ is None


def test_patience_ends_and_a_machine_that_stands_still_uses_up_little_of_it(clock: SimpleNamespace) -> None:
    looks = []

    def slow() -> bool:
        looks.append(clock.now)
        clock.sleep(30)
        return len(looks) == 5

    assert waiting.until(slow, 10, "the fifth look")
    looks.clear()
    with pytest.raises(AssertionError):
        waiting.until(slow, 8, "the fifth look")
    assert len(looks) == 4


def test_who_has_waited_long_looks_less_often(clock: SimpleNamespace) -> None:
    looks: list[float] = []
    with pytest.raises(AssertionError):
        waiting.until(lambda: looks.append(clock.now), 60, "rain")
    pauses = [after - before for before, after in pairwise(looks)]
    assert pauses[0] == pytest.approx(0.3)
    assert pauses[-1] == pytest.approx(1.0)


def test_a_command_that_hangs_is_not_asked_again() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.until(answers(subprocess.TimeoutExpired("ssh", 300), 1), 5, "one")
