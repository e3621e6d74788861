# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A host's memory, and the runs of the gate's program on it.

Every I/O call of a run is a step: at each of them it can be killed, and whatever answers can be made to fail.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from roles.slurm_gate.files.gate import identity, verbs
from roles.slurm_gate.files.gate.command import Result
from roles.slurm_gate.files.gate.config import Config
from roles.slurm_gate.files.gate.world import World

from .records import EVERYWHERE, MUTE, Prolog, Trouble
from .server import Server
from .sim import Fiber, Killed, Sim
from .steps import HOSTS, KILL_AFTER, KILL_BEFORE


class Contained(NamedTuple):
    """A container's process, and whose pod it is."""

    namespace: str
    pod: str
    pid: int


@dataclass(eq=False)
class Box:
    """One host. Its disk keeps its content without power."""

    name: str
    skew: float
    on: bool = True
    online: bool = True
    boot: int = 1
    up_since: float = float("-inf")
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    young: dict[str, tuple[float, dict[str, Any] | None]] = field(default_factory=dict)
    """Notes that a power cut may take back: since when, and the content before."""
    files: dict[str, tuple[str, float, int]] = field(default_factory=dict)
    locks: dict[int, deque[Process]] = field(default_factory=dict)
    """Who has each lock, and who waits behind him."""
    processes: list[Process] = field(default_factory=list)
    mute_until: float = 0.0
    """Slurm's steps do not say their processes."""
    skipped: bool = False
    """The last run of the timer left something to whoever had a lock."""
    scripts: int = 0
    """Slurm's scripts that are at work."""
    containers: dict[str, Contained] = field(default_factory=dict)
    gpus: dict[int, str] = field(default_factory=dict)
    steps: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Processes of Slurm's steps: job and step by pid."""


class Faults:
    """What goes wrong at which step, and what has gone wrong already."""

    def __init__(self, strikes: Mapping[tuple[str, str], tuple[str, int]], rng: random.Random) -> None:
        self._strikes, self.rng = dict(strikes), rng
        self.met: Counter[tuple[str, str, str]] = Counter()
        self.steps: Counter[tuple[str, str]] = Counter()

    def at(self, verb: str, step: str) -> str:
        """The fault that hits this very call; "" for none."""
        key = (verb, step)
        self.steps[key] += 1
        fault, number = self._strikes.get(key, ("", 0))
        if not fault:
            return ""
        if number > 1:
            self._strikes[key] = (fault, number - 1)
            return ""
        del self._strikes[key]
        return fault

    def hit(self, fault: str, verb: str, step: str) -> None:
        """Remember that a fault met a step."""
        self.met[fault, verb, step] += 1


class Process:
    """One run of the gate's program."""

    def __init__(self, system: System, box: Box, verb: str, env: Mapping[str, str], done: Callable[[int | None], None]):
        self.system, self.box, self.verb, self.env, self._done = system, box, verb, env, done
        self.label = f"{verb} {'controller' if box.name == 'ctl' else 'node'}" if verb == "reconcile" else verb
        self.sim, self.faults, self.begun, self.dead = system.sim, system.faults, system.sim.now, False
        self.looked = self.begun
        """When it last learned which containers run on its host."""
        box.processes.append(self)
        self.fibers: list[Fiber] = [self.sim.spawn(self._main, self)]

    def _main(self) -> None:
        code = verbs.run(self.verb, self.system.world(self))
        if self.verb == "deliver_token" and code == 0:
            let_in = Prolog(self.box.name, int(self.env["SLURM_JOB_ID"]), self.looked, self.sim.now)
            self.system.server.history.prologs.append(let_in)
        self._end()
        self._done(code)

    @property
    def account(self) -> str:
        """ServiceAccount of the job that one of Slurm's scripts is about; "" for the timer."""
        words = [self.env.get(f"SLURM_JOB_{name}", "") for name in ("ID", "UID", "GID")]
        return identity.name(*map(int, words)) if all(words) else ""

    def kill(self, noticed: bool = True) -> None:
        """End it at once; `noticed`: its parent still lives and sees it."""
        if self.dead:
            return
        self._end()
        self.dead = True
        self.system.trace(self, "killed")
        for fiber in self.fibers:
            self.sim.kill(fiber)
        if noticed:
            self.sim.after(0.0, self._done, None)

    def _end(self) -> None:
        if self in self.box.processes:
            self.box.processes.remove(self)
        for number in list(self.box.locks):
            self.unlock(number)

    def step(self, step: str, latency: float = 0.0) -> str:
        """Reach a step: wait, or die, or learn the fault that hits it."""
        fault = self.faults.at(self.label, step)
        if fault == KILL_BEFORE:
            self.faults.hit(fault, self.label, step)
            self.kill()
            raise Killed
        if latency:
            self.sim.sleep(latency)
        elif self.dead:
            raise Killed
        return fault

    def hit(self, fault: str, step: str, lasts: float = 0.0) -> None:
        """Record that a fault met a step."""
        self.faults.hit(fault, self.label, step)
        node, what = EVERYWHERE if self.box.name == "ctl" else self.box.name, MUTE if step in HOSTS else fault
        self.system.server.history.troubles.append(Trouble(what, node, self.sim.now, self.sim.now + lasts))

    def after(self, fault: str, step: str) -> None:
        """Past a step: the program may die with its work done."""
        if fault == KILL_AFTER:
            self.faults.hit(fault, self.label, step)
            self.kill()
            raise Killed

    def lock(self, number: int, wait: bool) -> bool:
        """Take a lock, perhaps after others."""
        queue = self.box.locks.setdefault(number, deque())
        if queue and not wait:
            return False
        queue.append(self)
        while queue[0] is not self:
            self.sim.park()
        return True

    def unlock(self, number: int) -> None:
        """Give a lock back, or stop waiting for it; the next in line goes on."""
        queue = self.box.locks.get(number, deque())
        if self in queue:
            first = queue[0] is self
            queue.remove(self)
            if first and queue:
                self.sim.wake(queue[0].fibers[0])
        if not queue:
            self.box.locks.pop(number, None)


class System:
    """What all hosts share. `answer` speaks for Slurm's commands, `world` makes the world that a process sees."""

    def __init__(self, sim: Sim, server: Server, config: Config, faults: Faults) -> None:
        self.sim, self.server, self.config, self.faults = sim, server, config, faults
        self.answer: Callable[[Process, tuple[str, ...]], Result]
        self.world: Callable[[Process], World]
        self.lines: list[str] = []
        self.slow, self.tools_hang = False, False
        self.keep = False

    def trace(self, who: Process | str, text: str) -> None:
        """A line of the readable trace."""
        if self.keep:
            name = who if isinstance(who, str) else f"{who.box.name} {who.verb} {who.env.get('SLURM_JOB_ID', '')}"
            self.lines.append(f"{self.sim.now:9.3f} {name:<18} {text}")

    def surprise(self, process: Process, line: str) -> None:
        """Record a crash of the gate."""
        self.server.history.surprises.append(f"{process.box.name} {process.verb}: {line}")


def wall(sim: Sim, box: Box) -> float:
    """Seconds since 1970, as the host has them."""
    return 1_000_000.0 + sim.now + box.skew
