# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Virtual time, and greenlets, of which one runs at a time: they hand over a baton whenever they wait.

Whoever waits runs the next events himself, until one of them wakes another; so a process that is alone costs no switch
at all. The order of events depends on the schedule's numbers only, never on the machine.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

from greenlet import getcurrent, greenlet


class Killed(BaseException):
    """Raised in a fiber that is dead: nothing of its program may go on."""


class Fiber:
    """A program's course through a schedule."""

    __slots__ = ("dead", "greenlet", "over", "owner", "ticket")

    def __init__(self, owner: Any = None) -> None:
        self.greenlet, self.owner = getcurrent(), owner
        self.ticket, self.dead, self.over = 0, False, False
        """`ticket`: which of its waits is the present one; what wakes an earlier one comes too late."""


class Sim:
    """One schedule's time and events."""

    def __init__(self) -> None:
        self.now = 0.0
        self.error: BaseException | None = None
        self._events: list[tuple[float, int, Any, tuple[Any, ...]]] = []
        self._count = itertools.count()
        self._main = Fiber()
        self._fibers: list[Fiber] = []
        self.current = self._main

    def after(self, delay: float, call: Callable[..., Any], *args: Any) -> None:
        """Call something later; it must not wait."""
        heapq.heappush(self._events, (self.now + delay, next(self._count), call, args))

    def spawn(self, body: Callable[[], None], owner: Any) -> Fiber:
        """Let a body run as a fiber, from now on."""
        fiber = Fiber(owner)
        fiber.greenlet = greenlet(partial(self._live, fiber, body), self._main.greenlet)
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
        """Wait until the current fiber is woken. Raises Killed."""
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
        """Kill all fibers and see them end."""
        for fiber in self._fibers:
            self.kill(fiber)
        self._events = [event for event in self._events if isinstance(event[2], Fiber) and event[2].dead]
        heapq.heapify(self._events)
        self.wake(self._main)
        self.loop(self._main)
        assert all(fiber.over for fiber in self._fibers)

    def loop(self, me: Fiber | None) -> Fiber | None:
        """Run events until one wakes `me`; without a `me`, until one wakes any fiber, which is returned."""
        events = self._events
        while True:
            self.now, _, call, args = heapq.heappop(events)
            if not isinstance(call, Fiber):
                self._call(call, args)
                if self.error and me is not self._main:
                    call, args = self._main, (self._main.ticket,)
                elif self.error:
                    return me
                else:
                    continue
            if call.over or args[0] != call.ticket:
                continue
            call.ticket += 1
            self.current = call
            if me and call is not me:
                call.greenlet.switch()
            return call

    def _live(self, fiber: Fiber, body: Callable[[], None], *_: Any) -> None:
        """A fiber's whole life. Whose turn it is at its end is its parent then: that is where the dead go."""
        try:
            if not fiber.dead:
                body()
        except Killed:
            pass
        except BaseException as err:
            self.error = self.error or err
        fiber.over = True
        heir = self.loop(None)
        assert heir
        getcurrent().parent = heir.greenlet

    def _call(self, call: Callable[..., None], args: tuple[Any, ...]) -> None:
        try:
            call(*args)
        except Exception as err:
            self.error = self.error or err
