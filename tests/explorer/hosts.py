# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A host's memory, and the real gate's program on it: its logic is the real one, its I/O is done here.

Every I/O call is a step: at each of them the program can be killed, and whatever answers can be made to fail.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any, cast

from roles.slurm_gate.files.gate import metrics, tokens, verbs
from roles.slurm_gate.files.gate.api import REQUEST_S, Answer, Api
from roles.slurm_gate.files.gate.clock import Clock
from roles.slurm_gate.files.gate.command import NO_ANSWER, TIMEOUT_S, Commands, Said
from roles.slurm_gate.files.gate.config import Config
from roles.slurm_gate.files.gate.host import Host
from roles.slurm_gate.files.gate.log import Log
from roles.slurm_gate.files.gate.notes import Notes
from roles.slurm_gate.files.gate.slurm import Slurm
from roles.slurm_gate.files.gate.world import World

from .records import EVERYWHERE, Trouble
from .server import Server
from .sim import Fiber, Killed, Sim
from .steps import (
    CONFLICT,
    FAILS,
    HANGS,
    KILL_AFTER,
    KILL_BEFORE,
    LOST,
    SILENT,
    SLOW,
    UNAUTHORIZED,
    UNREACHABLE,
    api_step,
    tool_step,
)


@dataclass(eq=False)
class Box:
    """One host. What is on its disk outlives its power."""

    name: str
    skew: float
    on: bool = True
    online: bool = True
    boot: int = 1
    up_since: float = float("-inf")
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    young: dict[str, tuple[float, dict[str, Any] | None]] = field(default_factory=dict)
    """Notes that a power cut may take back: since when, and what was there before."""
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
    containers: dict[str, str] = field(default_factory=dict)
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
        self.label = f"{verb} {'controller' if box.name == 'ctl' else 'node'}" if verb == "tend" else verb
        self.sim, self.faults, self.begun, self.dead = system.sim, system.faults, system.sim.now, False
        box.processes.append(self)
        self.fibers: list[Fiber] = [self.sim.spawn(self._main, self)]

    def _main(self) -> None:
        seams = Seams.of(self)
        code = verbs.run(self.verb, seams)
        self._end()
        self._done(code)

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
        """A fault has met a step: somebody did not answer, or not well."""
        self.faults.hit(fault, self.label, step)
        node = EVERYWHERE if self.box.name == "ctl" else self.box.name
        self.system.server.history.troubles.append(Trouble(fault, node, self.sim.now, self.sim.now + lasts))

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
    """What all hosts share. `answer` speaks for Slurm's commands."""

    def __init__(self, sim: Sim, server: Server, config: Config, faults: Faults) -> None:
        self.sim, self.server, self.config, self.faults = sim, server, config, faults
        self.answer: Callable[[Process, tuple[str, ...]], Said]
        self.events: Counter[str] = Counter()
        self.lines: list[str] = []
        self.slow, self.tools_hang = False, False
        self.keep = False

    def trace(self, who: Process | str, text: str) -> None:
        """A line of the readable trace."""
        if self.keep:
            name = who if isinstance(who, str) else f"{who.box.name} {who.verb} {who.env.get('SLURM_JOB_ID', '')}"
            self.lines.append(f"{self.sim.now:9.3f} {name:<18} {text}")

    def surprise(self, process: Process, line: str) -> None:
        """The gate ended in a way that nobody wrote."""
        self.server.history.surprises.append(f"{process.box.name} {process.verb}: {line}")


class Line(Api):
    """The API server as one process reaches it."""

    def __init__(self, process: Process, who: str, patience_s: float, clock: Clock) -> None:
        super().__init__("https://api:6443", "", "", patience_s, clock)
        self._process, self._who = process, who

    def _ask(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        process, system = self._process, self._process.system
        step, rng = api_step(method, path, body), system.faults.rng
        latency = rng.uniform(0.002, 0.02) if not system.slow else rng.choice((0.3, 2.0, 5.0, 11.0))
        fault = process.step(step, min(latency, REQUEST_S))
        if fault == SLOW:
            process.hit(SLOW, step, REQUEST_S)
            latency = 2 * REQUEST_S
            process.sim.sleep(REQUEST_S)
        if fault == UNREACHABLE or not (process.box.online and system.server.up):
            process.hit(UNREACHABLE, step)
            if not process.box.online:
                process.sim.sleep(REQUEST_S)
                raise TimeoutError("timed out")
            raise ConnectionRefusedError("refused")
        if system.slow:
            system.faults.hit(SLOW, process.label, step)
        if fault in (UNAUTHORIZED, CONFLICT):
            process.hit(fault, step)
            system.trace(process, f"{step}: {fault}")
            return Answer(int(fault), {"message": "injected"})
        answer = system.server.request(self._who, process.begun, method, path, body)
        if system.keep:
            system.trace(process, f"{method} {path} -> {answer.status}{'' if answer.ok else ' ' + answer.message[:60]}")
        process.after(fault, step)
        if fault == LOST:
            process.hit(fault, step)
        if fault == LOST or latency > REQUEST_S:
            raise ConnectionResetError("reset") if fault == LOST else TimeoutError("timed out")
        return answer


class Shell(Commands):
    """Programs of one host: Slurm's, the container runtime's, the GPUs'."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def run(self, *argv: str, timeout_s: float = TIMEOUT_S) -> Said:
        process, system = self._process, self._process.system
        step = tool_step(argv)
        fault = process.step(step, system.faults.rng.uniform(0.005, 0.03))
        mute = step == "listpids" and process.box.mute_until > process.sim.now
        if system.tools_hang or mute or fault == HANGS:
            process.hit(HANGS, step, timeout_s)
            process.sim.sleep(timeout_s)
            return Said(NO_ANSWER, "", f"timed out after {timeout_s} seconds")
        if fault in (SILENT, FAILS):
            process.hit(fault, step)
            return Said(1, "", "Unable to contact slurm controller (connect failure)" if fault == SILENT else "failed")
        said = system.answer(process, argv)
        if said.code and "Unable to contact" in said.err:
            system.faults.hit(SILENT, process.label, step)
        if system.keep:
            system.trace(process, f"{' '.join(argv[:5])[:90]} -> {said.code} {(said.out or said.err).strip()[:90]!r}")
        process.after(fault, step)
        return said


class Machine(Host):
    """The real questions to the host's programs; what is read from files is said here."""

    def __init__(self, commands: Commands, box: Box, sim: Sim) -> None:
        super().__init__(commands, "ctr")
        self._box, self._sim = box, sim

    def boot_id(self) -> str:
        return str(self._box.boot)

    def uptime_s(self) -> float:
        return self._sim.now - self._box.up_since

    def script_runs(self) -> bool:
        return self._box.scripts > 0


class Memory(Notes):
    """The gate's notes and locks on one host, as one process uses them."""

    def __init__(self, process: Process) -> None:
        self._process, self._box = process, process.box

    def read(self, name: str) -> dict[str, Any]:
        self._process.step("read note")
        return dict(self._box.notes.get(name, {}))

    def write(self, name: str, content: dict[str, Any]) -> None:
        fault = self._process.step("write note", 0.0005)
        self._box.young[name] = (self._process.sim.now, self._box.notes.get(name))
        self._box.notes[name] = dict(content)
        self._process.after(fault, "write note")

    def forget(self, name: str) -> None:
        fault = self._process.step("forget note", 0.0005)
        self._box.notes.pop(name, None)
        self._process.after(fault, "forget note")

    def names(self, prefix: str) -> list[str]:
        return sorted(name for name in self._box.notes if name.startswith(prefix))

    @contextlib.contextmanager
    def locked(self, number: int, wait: bool = True) -> Iterator[bool]:
        fault = self._process.step("lock", 0.0002)
        free = self._process.lock(number, wait)
        self._box.skipped |= not free
        self._process.after(fault, "lock")
        try:
            yield free
        finally:
            # POSIX: closing any handle of the file gives up all locks that the process has on it
            for held in list(self._box.locks):
                if free and self._box.locks[held][0] is self._process:
                    self._process.unlock(held)


class Ticking(Clock):
    """A host's clock: monotonic time is everybody's, wall time is its own."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def now(self) -> float:
        return self._process.sim.now

    def wall(self) -> float:
        return wall(self._process.sim, self._process.box)

    def sleep(self, seconds: float) -> None:
        self._process.step("sleep", seconds)


def wall(sim: Sim, box: Box) -> float:
    """Seconds since 1970, as the host has them."""
    return 1_000_000.0 + sim.now + box.skew


class Stat:
    """What the gate asks of a file."""

    def __init__(self, mtime: float, uid: int) -> None:
        self.st_mtime, self.st_uid, self.st_gid = mtime, uid, uid


class Leaf:
    """A path on a host; the part of pathlib.Path that the gate uses."""

    def __init__(self, process: Process, path: str) -> None:
        self.process, self.path, self.name = process, path, path.rpartition("/")[2]

    def __truediv__(self, name: str) -> Leaf:
        return Leaf(self.process, f"{self.path}/{name}")

    def __str__(self) -> str:
        return self.path

    def __lt__(self, other: Leaf) -> bool:
        return self.path < other.path

    def with_name(self, name: str) -> Leaf:
        return Leaf(self.process, f"{self.path.rpartition('/')[0]}/{name}")

    def mkdir(self, mode: int = 0, parents: bool = False, exist_ok: bool = False) -> None:
        self.process.box.files.setdefault(self.path, ("", 0.0, 0))

    def exists(self) -> bool:
        return self.path in self.process.box.files

    def read_text(self) -> str:
        try:
            return self.process.box.files[self.path][0]
        except KeyError as err:
            raise FileNotFoundError(self.path) from err

    def stat(self) -> Stat:
        try:
            return Stat(*self.process.box.files[self.path][1:])
        except KeyError as err:
            raise FileNotFoundError(self.path) from err

    def iterdir(self) -> list[Leaf]:
        if not self.exists():
            raise FileNotFoundError(self.path)
        return self.glob("*")

    def unlink(self) -> None:
        fault = self.process.step("remove files", 0.0002)
        self.process.box.files.pop(self.path, None)
        self.process.after(fault, "remove files")

    rmdir = unlink

    def glob(self, pattern: str) -> list[Leaf]:
        deep = pattern.count("/") + 1
        found = [it for it in self.process.box.files if it.startswith(self.path + "/")]
        rests = ((it, it[len(self.path) + 1 :]) for it in found)
        return [Leaf(self.process, it) for it, rest in rests if rest.count("/") + 1 == deep and fnmatch(rest, pattern)]


def write_file(file: Leaf, content: str, mode: int, uid: int, gid: int) -> None:
    """In the place of tokens.write."""
    process, step = file.process, "write file"
    fault = process.step(step, 0.0005)
    if f"{file.path.rpartition('/')[0]}" not in process.box.files and "/jobs/" in file.path:
        raise FileNotFoundError(file.path)
    process.box.files[file.path] = (content, wall(process.sim, process.box), uid)
    process.after(fault, step)


class Written(Log):
    """The gate's log: counted for coverage, kept for the trace."""

    def __init__(self, process: Process) -> None:
        super().__init__()
        self._process = process

    def event(self, name: str, **fields: Any) -> None:
        system = self._process.system
        system.events[name] += 1
        if name == "crashed":
            system.surprise(self._process, str(fields))
        super().event(name, **fields)

    def write(self, line: str) -> None:
        self._process.system.trace(self._process, line)


class Pool:
    """In the place of ThreadPoolExecutor: the tasks are fibers of the same process."""

    def __init__(self, workers: int) -> None:
        self._tasks: list[Task] = []

    def __enter__(self) -> Pool:
        return self

    def submit(self, call: Callable[..., Any], *args: Any) -> Task:
        line = cast(Line, args[0])
        task = Task(line._process, lambda: call(*args))
        self._tasks.append(task)
        return task

    def __exit__(self, *_: object) -> None:
        for task in self._tasks:
            task.wait()


class Task:
    """A future."""

    def __init__(self, process: Process, call: Callable[[], Any]) -> None:
        self._call, self._sim, self._value, self._error = call, process.sim, None, None
        self._waiter: Fiber | None = None
        self._fiber = process.sim.spawn(self._run, process)
        process.fibers.append(self._fiber)
        self._done = False

    def _run(self) -> None:
        try:
            self._value = self._call()
        except Exception as err:
            self._error = err
        self._done = True
        if self._waiter:
            self._sim.wake(self._waiter)

    def wait(self) -> None:
        while not self._done:
            self._waiter = self._sim.current
            self._sim.park()

    def result(self) -> Any:
        if self._error:
            raise self._error
        return self._value


@dataclass(frozen=True)
class Seams(World):
    """The gate's world, made of the model's parts."""

    process: Process = field(kw_only=True)

    @classmethod
    def of(cls, process: Process) -> Seams:
        """For one process."""
        shell, clock = Shell(process), Ticking(process)
        etc, jobs = cast(Any, Leaf(process, "/etc")), cast(Any, Leaf(process, "/jobs"))
        parts = (Slurm(shell), Machine(shell, process.box, process.sim), Memory(process), Written(process))
        return cls(process.system.config, process.env, clock, *parts, etc, jobs, process=process)

    def api(self, identity: str, patience_s: float) -> Api:
        who = self.process.box.name if identity == "node" else identity
        return Line(self.process, who, patience_s, self.clock)


@contextlib.contextmanager
def replaced() -> Iterator[None]:
    """The gate's modules with what they do to files and threads replaced."""
    parts: list[tuple[Any, str, Any]] = [
        (tokens, "write", write_file),
        (concurrent.futures, "ThreadPoolExecutor", Pool),
        (metrics, "publish", lambda world, gauges: None),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in parts]
    for module, name, new in parts:
        setattr(module, name, new)
    try:
        yield
    finally:
        for module, name, old in before:
            setattr(module, name, old)
