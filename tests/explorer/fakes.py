# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's I/O, done in the model: API server, programs, clock, notes, locks, files, threads; its logic is not."""

from __future__ import annotations

import concurrent.futures
import contextlib
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from types import SimpleNamespace
from typing import Any, cast

from roles.slurm_gate.files.gate import metrics, processes, tokens, verbs
from roles.slurm_gate.files.gate.api import REQUEST_S, Answer, Api
from roles.slurm_gate.files.gate.clock import Clock
from roles.slurm_gate.files.gate.command import NO_ANSWER, TIMEOUT_S, Commands, Result
from roles.slurm_gate.files.gate.host import Host
from roles.slurm_gate.files.gate.log import Log
from roles.slurm_gate.files.gate.notes import Notes
from roles.slurm_gate.files.gate.slurm import Slurm
from roles.slurm_gate.files.gate.world import World

from .hosts import Box, Process, wall
from .server import Caller
from .sim import Fiber, Sim
from .steps import (
    CONFLICT,
    FAILS,
    HANGS,
    LOST,
    SILENT,
    SLOW,
    UNAUTHORIZED,
    UNREACHABLE,
    api_step,
    tool_step,
)


class FakeApi(Api):
    """The API server as one process reaches it."""

    def __init__(self, process: Process, who: str, patience_s: float, clock: Clock) -> None:
        super().__init__("https://api:6443", "", "", patience_s, clock)
        self._process, self._who = process, who

    def _request(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
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
        caller = Caller(self._who, process.begun, process.looked, process.account)
        answer = system.server.request(caller, method, path, body)
        if system.keep:
            system.trace(process, f"{method} {path} -> {answer.status}{'' if answer.ok else ' ' + answer.message[:60]}")
        process.after(fault, step)
        if fault == LOST:
            process.hit(fault, step)
        if fault == LOST or latency > REQUEST_S:
            raise ConnectionResetError("reset") if fault == LOST else TimeoutError("timed out")
        return answer


class FakeCommands(Commands):
    """Programs of one host: Slurm's, the container runtime's, the GPUs'."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def run(self, *argv: str, timeout_s: float = TIMEOUT_S) -> Result:
        process, system = self._process, self._process.system
        step = tool_step(argv)
        fault = process.step(step, system.faults.rng.uniform(0.005, 0.03))
        mute = step == "listpids" and process.box.mute_until > process.sim.now
        if system.tools_hang or mute or fault == HANGS:
            process.hit(HANGS, step, timeout_s)
            process.sim.sleep(timeout_s)
            return Result(NO_ANSWER, "", f"timed out after {timeout_s} seconds")
        if fault in (SILENT, FAILS):
            process.hit(fault, step)
            return Result(
                1, "", "Unable to contact slurm controller (connect failure)" if fault == SILENT else "failed"
            )
        result = system.answer(process, argv)
        if result.code and "Unable to contact" in result.err:
            system.faults.hit(SILENT, process.label, step)
        if system.keep:
            system.trace(
                process, f"{' '.join(argv[:5])[:90]} -> {result.code} {(result.out or result.err).strip()[:90]!r}"
            )
        process.after(fault, step)
        return result


class FakeHost(Host):
    """The real questions to the host's programs; the answers from files are fake."""

    def __init__(self, commands: Commands, box: Box, sim: Sim, gpu_proof: Mapping[str, Any]) -> None:
        super().__init__(commands, "ctr", gpu_proof)
        self._box, self._sim = box, sim

    def holders(self) -> dict[int, str]:
        return dict(self._box.gpus)

    def boot_id(self) -> str:
        return str(self._box.boot)

    def uptime_s(self) -> float:
        return self._sim.now - self._box.up_since

    def script_runs(self) -> bool:
        return self._box.scripts > 0


class FakeNotes(Notes):
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


class FakeClock(Clock):
    """A host's clock: monotonic time is the same on all hosts, wall time is its own."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def now(self) -> float:
        return self._process.sim.now

    def wall(self) -> float:
        return wall(self._process.sim, self._process.box)

    def sleep(self, seconds: float) -> None:
        self._process.step("sleep", seconds)


class FakePath:
    """A path on a host; the part of pathlib.Path that the gate uses."""

    def __init__(self, process: Process, path: str) -> None:
        self.process, self.path, self.name = process, path, path.rpartition("/")[2]

    def __truediv__(self, name: str) -> FakePath:
        return FakePath(self.process, f"{self.path}/{name}")

    def __str__(self) -> str:
        return self.path

    def __lt__(self, other: FakePath) -> bool:
        return self.path < other.path

    @property
    def parent(self) -> FakePath:
        return FakePath(self.process, self.path.rpartition("/")[0])

    def with_name(self, name: str) -> FakePath:
        return FakePath(self.process, f"{self.path.rpartition('/')[0]}/{name}")

    def mkdir(self, mode: int = 0, exist_ok: bool = False) -> None:
        self.process.box.files.setdefault(self.path, ("", 0.0, 0))

    def exists(self) -> bool:
        return self.path in self.process.box.files

    def read_text(self) -> str:
        try:
            return self.process.box.files[self.path][0]
        except KeyError as err:
            raise FileNotFoundError(self.path) from err

    def stat(self) -> SimpleNamespace:
        self.read_text()
        _, mtime, uid = self.process.box.files[self.path]
        return SimpleNamespace(st_mtime=mtime, st_uid=uid, st_gid=uid)

    def iterdir(self) -> list[FakePath]:
        if not self.exists():
            raise FileNotFoundError(self.path)
        return self.glob("*")

    def rename(self, target: FakePath) -> None:
        fault = self.process.step("rename a file", 0.0002)
        if not self.exists():
            raise FileNotFoundError(self.path)
        self.process.box.files[target.path] = self.process.box.files.pop(self.path)
        self.process.after(fault, "rename a file")

    def unlink(self, missing_ok: bool = False) -> None:
        fault = self.process.step("remove files", 0.0002)
        if not (missing_ok or self.exists()):
            raise FileNotFoundError(self.path)
        self.process.box.files.pop(self.path, None)
        self.process.after(fault, "remove files")

    def rmdir(self) -> None:
        fault = self.process.step("remove files", 0.0002)
        full = bool(self.glob("*"))
        if not full:
            self.process.box.files.pop(self.path, None)
        self.process.after(fault, "remove files")
        if full:
            raise OSError(f"Directory not empty: {self.path}")

    def glob(self, pattern: str) -> list[FakePath]:
        deep = pattern.count("/") + 1
        found = [it for it in self.process.box.files if it.startswith(self.path + "/")]
        rests = ((it, it[len(self.path) + 1 :]) for it in found)
        return [
            FakePath(self.process, it) for it, rest in rests if rest.count("/") + 1 == deep and fnmatch(rest, pattern)
        ]


def write_file(file: FakePath, content: str, mode: int, uid: int, gid: int) -> None:
    """In the place of tokens.write."""
    process, step = file.process, "write file"
    fault = process.step(step, 0.0005)
    if f"{file.path.rpartition('/')[0]}" not in process.box.files and "/jobs/" in file.path:
        raise FileNotFoundError(file.path)
    process.box.files[file.path] = (content, wall(process.sim, process.box), uid)
    process.after(fault, step)


class FakeLog(Log):
    """The gate's log: counted for coverage, kept for the trace."""

    def __init__(self, process: Process) -> None:
        super().__init__()
        self._process = process

    def event(self, name: str, **fields: Any) -> None:
        system = self._process.system
        if name == "crashed":
            system.surprise(self._process, str(fields))
        super().event(name, **fields)

    def write(self, line: str) -> None:
        self._process.system.trace(self._process, line)


class FakePool:
    """In the place of ThreadPoolExecutor: the tasks are fibers of the same process."""

    def __init__(self, workers: int) -> None:
        self._tasks: list[FakeFuture] = []

    def __enter__(self) -> FakePool:
        return self

    def submit(self, call: Callable[..., Any], *args: Any) -> FakeFuture:
        line = cast(FakeApi, args[0])
        task = FakeFuture(line._process, lambda: call(*args))
        self._tasks.append(task)
        return task

    def __exit__(self, *_: object) -> None:
        for task in self._tasks:
            task.wait()


class FakeFuture:
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


class FakeWorld(World):
    """The gate's world, made of the model's parts."""

    process: Process

    @classmethod
    def of(cls, process: Process) -> FakeWorld:
        """For one process."""
        commands, clock = FakeCommands(process), FakeClock(process)
        folders = (cast(Any, FakePath(process, path)) for path in ("/etc", "/tokens", "/jobs"))
        host = FakeHost(commands, process.box, process.sim, process.system.config.gpu_proof)
        parts = (Slurm(commands), host, FakeNotes(process), FakeLog(process))
        world = cls(process.system.config, process.env, clock, *parts, *folders)
        world.process = process
        return world

    def api(self, identity: str, patience_s: float) -> Api:
        who = self.process.box.name if identity == "node" else identity
        return FakeApi(self.process, who, patience_s, self.clock)


@contextlib.contextmanager
def replaced() -> Iterator[None]:
    """The gate's modules with what they do to files, threads and /proc replaced."""
    parts: list[tuple[Any, str, Any]] = [
        (tokens, "write", write_file),
        (processes, "name", lambda pid: "python3"),
        (processes, "of_containers", lambda pids, ids, firsts: [pid for pid in pids if pid in set(firsts)]),
        (concurrent.futures, "ThreadPoolExecutor", FakePool),
        (metrics, "publish", lambda world, gauges: None),
        (verbs, "_compare_guards", lambda world, api, gauges: True),  # it only reports, and opens nothing
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in parts]
    for module, name, new in parts:
        setattr(module, name, new)
    try:
        yield
    finally:
        for module, name, old in before:
            setattr(module, name, old)
