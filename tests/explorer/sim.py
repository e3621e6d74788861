# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Virtual time, and threads of which one runs at a time: they hand over a baton whenever they wait.

Whoever waits runs the next events himself, until one of them wakes another thread; so a process that is alone costs
no switch of threads at all. The order of events depends on the schedule's numbers only, never on the machine.
"""

from __future__ import annotations

import _thread
import heapq
import itertools
from collections.abc import Callable
from typing import Any, ClassVar


class Killed(BaseException):
    """Raised in a fiber that is dead: nothing of its program may go on."""


class Fiber:
    """A thread's turn in a schedule."""

    __slots__ = ("body", "dead", "over", "owner", "ticket", "turn")

    def __init__(self, turn: _thread.LockType, body: Callable[[], None] | None = None, owner: Any = None) -> None:
        self.turn, self.body, self.owner = turn, body, owner
        self.ticket, self.dead, self.over = 0, False, False
        """`ticket`: which of its waits is the present one; what wakes an earlier one comes too late."""


class _Worker:
    """A thread that serves one fiber after the other, in this schedule and in later ones."""

    idle: ClassVar[list[_Worker]] = []

    def __init__(self) -> None:
        self.turn = _thread.allocate_lock()
        self.turn.acquire()
        self.fiber: Fiber | None = None
        self.sim: Sim | None = None
        _thread.start_new_thread(self._serve, ())

    def _serve(self) -> None:
        while True:
            self.turn.acquire()
            sim, fiber = self.sim, self.fiber
            assert sim and fiber and fiber.body
            try:
                if not fiber.dead:
                    fiber.body()
            except Killed:
                pass
            except BaseException as err:
                sim.error = sim.error or err
            fiber.over, fiber.body = True, None
            self.idle.append(self)
            sim.loop(None)


class Sim:
    """One schedule's time and events."""

    def __init__(self) -> None:
        self.now = 0.0
        self.error: BaseException | None = None
        self._events: list[tuple[float, int, Any, tuple[Any, ...]]] = []
        self._count = itertools.count()
        self._main = Fiber(_thread.allocate_lock())
        self._main.turn.acquire()
        self._fibers: list[Fiber] = []
        self.current = self._main

    def after(self, delay: float, call: Callable[..., Any], *args: Any) -> None:
        """Call something later; it must not wait."""
        heapq.heappush(self._events, (self.now + delay, next(self._count), call, args))

    def spawn(self, body: Callable[[], None], owner: Any) -> Fiber:
        """Let a body run as a fiber, from now on."""
        worker = _Worker.idle.pop() if _Worker.idle else _Worker()
        fiber = Fiber(worker.turn, body, owner)
        worker.sim, worker.fiber = self, fiber
        self._fibers.append(fiber)
        self.wake(fiber)
        return fiber

    def wake(self, fiber: Fiber, delay: float = 0.0) -> None:
        """End a fiber's present wait."""
        heapq.heappush(self._events, (self.now + delay, next(self._count), fiber, (fiber.ticket,)))

    def sleep(self, seconds: float) -> None:
        """Wait, as the current fiber."""
        self.wake(self.current, seconds)
        self.park()

    def park(self) -> None:
        """Wait until somebody wakes the current fiber. Raises Killed."""
        me = self.current
        if not me.dead:
            self.loop(me)
        if me.dead:
            raise Killed

    def kill(self, fiber: Fiber) -> None:
        """Let a fiber find itself dead, wherever it waits."""
        if not fiber.over and not fiber.dead:
            fiber.dead = True
            self.wake(fiber)

    def run(self, until: float) -> None:
        """Let time pass. Called from outside all fibers."""
        self.wake(self._main, until - self.now)
        self.loop(self._main)
        if self.error:
            raise self.error

    def close(self) -> None:
        """Kill all fibers and see them end, so that their threads serve others."""
        for fiber in self._fibers:
            self.kill(fiber)
        self._events = [event for event in self._events if isinstance(event[2], Fiber) and event[2].dead]
        heapq.heapify(self._events)
        self.wake(self._main)
        self.loop(self._main)
        assert all(fiber.over for fiber in self._fibers)

    def loop(self, me: Fiber | None) -> None:
        """Run events until one of them wakes `me`; without a `me`, until the baton is another's."""
        events = self._events
        while True:
            self.now, _, call, args = heapq.heappop(events)
            if not isinstance(call, Fiber):
                self._call(call, args)
                if self.error and me is not self._main:
                    call, args = self._main, (self._main.ticket,)
                elif self.error:
                    return
                else:
                    continue
            if call.over or args[0] != call.ticket:
                continue
            call.ticket += 1
            self.current = call
            if call is me:
                return
            call.turn.release()
            if me:
                me.turn.acquire()
            return

    def _call(self, call: Callable[..., None], args: tuple[Any, ...]) -> None:
        try:
            call(*args)
        except Exception as err:
            self.error = self.error or err
