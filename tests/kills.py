# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A playbook that is killed in each of its tasks, each time with all of its work ahead of it.

A whole run finds the tasks, from the first one that changes something. For each of them another run begins with the
same work, is killed in that task, and a last run finishes it. A killed run that had less to do is an error.

KILLS=5 takes five of the tasks, first those that change something. SEED=2 takes others, and kills at other moments.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from lab.hosts.paths import REPOSITORY
from tests.processes import end
from tests.running import Lab

SEED, KILLS = os.environ.get("SEED", "1"), int(os.environ.get("KILLS", "0"))
TASK, CHANGED, OVER = "TASK [", "changed: [", "PLAY RECAP"


@dataclass
class Task:
    """A task of a run, from its banner to the next one."""

    name: str
    begin: float
    seconds: float = 0.0
    changed: bool = False


@dataclass
class Watched:
    """A run, whole or killed. Its last task is the one in which it was killed."""

    tasks: list[Task] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    killed: bool = False
    code: int = 0

    @property
    def output(self) -> str:
        """Its end, for a failed test."""
        return "".join(self.lines)[-6000:]

    def hear(self, line: str) -> None:
        """Take one line of its output."""
        self.lines.append(line)
        now = time.monotonic()
        if line.startswith((TASK, OVER)) and self.tasks:
            self.tasks[-1].seconds = now - self.tasks[-1].begin
        if line.startswith(TASK):
            self.tasks.append(Task(line.removeprefix(TASK).partition("]")[0], now))
        elif line.startswith(CHANGED):
            self.tasks[-1].changed = True
        elif line.startswith(OVER):
            self.killed = False  # it came too late


def watch(lab: Lab, playbook: str, options: Sequence[str], number: int = -1, seconds: float = 0.0) -> Watched:
    """Run it. With a task's number, kill all its processes so many seconds after that task's start, or at its end."""
    inventories = [word for place in lab.inventories for word in ("-i", place)]
    argv = ["ansible-playbook", *inventories, f"playbooks/{playbook}.yml", *options]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_NOCOLOR": "1", "PYTHONUNBUFFERED": "1"}
    seen = Watched()
    with subprocess.Popen(
        argv, cwd=REPOSITORY, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as run:
        assert run.stdout
        killer = threading.Timer(seconds, end, [run.pid])
        for line in run.stdout:
            seen.hear(line)
            if line.startswith(TASK) and len(seen.tasks) == number + 1:
                seen.killed = True
                killer.start()
            elif line.startswith(TASK) and seen.killed:
                end(run.pid)
        killer.cancel()
    seen.code = run.returncode
    return seen


class Kills:
    """The kills of one playbook."""

    def __init__(self, lab: Lab, playbook: str) -> None:
        self._lab, self._playbook = lab, playbook
        self._random = random.Random(f"{SEED} {playbook}")
        self._whole = Watched()
        self._ahead: list[tuple[int, float]] = []
        """Numbers of tasks, and after which part of its time each is killed."""
        self.tasks: list[str] = []
        """Those in which a run was killed so far."""

    @property
    def ahead(self) -> bool:
        """Whether a task is left in which no run was killed."""
        return not self._whole.tasks or bool(self._ahead)

    def run(self, *options: str) -> None:
        """With all the work ahead: the first time a whole run, later a run that is killed, and one that finishes it."""
        if not self._ahead:
            self._learn(watch(self._lab, self._playbook, options))
            return
        number, part = self._ahead.pop(0)
        wanted = self._whole.tasks[number]
        seen = watch(self._lab, self._playbook, options, number, wanted.seconds * part)
        idle = changing(self._whole.tasks[:number]) - changing(seen.tasks)
        assert not idle, f"it had less to do before {wanted.name}: {idle} changed nothing; {seen.output}"
        if not seen.killed:
            # a kill after the recap ends a run that has done its work
            assert seen.code in (0, -signal.SIGKILL), seen.output
            self._ahead.insert(0, (number, part / 2))
            return
        self.tasks.append(seen.tasks[-1].name)
        print(f"{self._playbook}: killed in its task {len(seen.tasks)}: {self.tasks[-1]}", flush=True)
        after = self._lab.playbook(self._playbook, *options)
        assert after.code == 0, after.output

    def _learn(self, whole: Watched) -> None:
        assert whole.code == 0, whole.output
        assert changing(whole.tasks), f"a whole run had nothing to do: {whole.output}"
        if self._whole.tasks:
            return
        self._whole = whole
        first = next(number for number, task in enumerate(whole.tasks) if task.changed)
        numbers = self._random.sample(range(first, len(whole.tasks)), len(whole.tasks) - first)
        numbers.sort(key=lambda number: not whole.tasks[number].changed)
        self._ahead = [(number, self._random.uniform(0, 0.8)) for number in numbers[: KILLS or None]]
        print(f"{self._playbook}: {len(self._ahead)} kills in its {len(whole.tasks)} tasks", flush=True)


def changing(tasks: Sequence[Task]) -> set[str]:
    """Names of the tasks that changed something."""
    return {task.name for task in tasks if task.changed}
