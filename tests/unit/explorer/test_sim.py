# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.explorer.sim import Killed, Sim


@contextmanager
def simulated() -> Iterator[Sim]:
    sim = Sim()
    try:
        yield sim
    finally:
        sim.close()


def test_time_passes_in_the_order_of_events_and_not_by_the_clock() -> None:
    seen: list[tuple[str, float]] = []
    with simulated() as sim:

        def body(name: str, pause: float) -> Callable[[], None]:
            def run() -> None:
                for _ in range(2):
                    sim.sleep(pause)
                    seen.append((name, sim.now))

            return run

        sim.spawn(body("a", 100.0), None)
        sim.spawn(body("b", 70.0), None)
        sim.after(120.0, lambda: seen.append(("call", sim.now)))
        sim.run(1000.0)
    assert seen == [("b", 70.0), ("a", 100.0), ("call", 120.0), ("b", 140.0), ("a", 200.0)]


def test_the_dead_do_nothing_more() -> None:
    seen: list[str] = []
    with simulated() as sim:

        def body() -> None:
            try:
                sim.sleep(10.0)
            except Killed:
                seen.append("killed")
                with pytest.raises(Killed):
                    sim.sleep(1.0)
                raise
            seen.append("lived")

        fiber = sim.spawn(body, None)
        sim.after(5.0, sim.kill, fiber)
        sim.run(20.0)
        assert fiber.over
    assert seen == ["killed"]


def test_what_wakes_an_earlier_wait_comes_too_late() -> None:
    woken: list[float] = []
    with simulated() as sim:

        def body() -> None:
            sim.park()
            sim.sleep(10.0)
            woken.append(sim.now)

        fiber = sim.spawn(body, None)
        sim.after(1.0, sim.wake, fiber)
        sim.after(1.0, sim.wake, fiber)
        sim.run(20.0)
    assert woken == [11.0]


@pytest.mark.parametrize("inside", [True, False])
def test_a_mistake_of_the_model_ends_the_schedule(inside: bool) -> None:
    def mistake() -> None:
        raise ZeroDivisionError

    with simulated() as sim:
        sim.spawn(lambda: sim.sleep(50.0), None)
        if inside:
            sim.spawn(mistake, None)
        else:
            sim.after(1.0, mistake)
        with pytest.raises(ZeroDivisionError):
            sim.run(20.0)


def test_many_begin_and_end_in_each_others_turns() -> None:
    seen: list[str] = []
    with simulated() as sim:

        def parent() -> None:
            for name in "abc":
                sim.spawn(lambda name=name: seen.append(name), None)
            seen.append("parent")

        sim.spawn(parent, None)
        sim.after(1.0, lambda: sim.spawn(parent, None))
        sim.run(10.0)
    assert seen == ["parent", *"abc", "parent", *"abc"]


def test_a_schedule_leaves_nobody_waiting() -> None:
    with simulated() as sim:
        fibers = [sim.spawn(lambda: sim.sleep(99.0), None) for _ in range(5)]
        sim.run(10.0)
    assert all(it.over and it.greenlet.dead for it in fibers)
