# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A playbook that is killed in each of its tasks, one after the other, until a run gets through.

The run that is killed in a task has done all tasks before it. So each task is cut off while it works for the first
time, and the next run takes over what it left. SEED=2 kills at other moments after a task's start.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from lab.hosts.paths import REPOSITORY
from tests.processes import end
from tests.running import Lab

SEED = os.environ.get("SEED", "1")
FIRST = 2
"""The first task checks the intent before any host is contacted."""
MOMENTS_S = (0.0, 0.2, 0.6, 1.5)
TASK = "TASK ["


@dataclass(frozen=True)
class Cut:
    """A run up to its end. `task` is the one in which it was to be killed; empty if it has fewer tasks."""

    task: str
    killed: bool
    output: str
    code: int


def cut(lab: Lab, playbook: str, options: Sequence[str], number: int, seconds: float) -> Cut:
    """Run it until so many seconds after the start of its task of this number; then kill all its processes."""
    inventories = [word for place in lab.inventories for word in ("-i", place)]
    argv = ["ansible-playbook", *inventories, f"playbooks/{playbook}.yml", *options]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_NOCOLOR": "1", "PYTHONUNBUFFERED": "1"}
    lines: list[str] = []
    tasks: list[str] = []
    killed = False
    with subprocess.Popen(
        argv, cwd=REPOSITORY, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as run:
        assert run.stdout
        for line in run.stdout:
            lines.append(line)
            if not line.startswith(TASK):
                continue
            tasks.append(line.removeprefix(TASK).partition("]")[0])
            if len(tasks) == number and not killed:
                try:
                    run.wait(seconds)
                except subprocess.TimeoutExpired:
                    end(run.pid)
                    killed = True
    task = tasks[number - 1] if len(tasks) >= number else ""
    return Cut(task, killed, "".join(lines)[-6000:], run.returncode)


def killed_everywhere(lab: Lab, playbook: str, *options: str, first: int = FIRST) -> list[str]:
    """Kill it in its task `first`, run it again and kill it in the next one, until a run has no task left.

    Returns the tasks in which a run was killed. The last run must end well.
    """
    moments = random.Random(f"{SEED} {playbook}")
    cuts: list[str] = []
    number = first
    while True:
        found = cut(lab, playbook, options, number, moments.choice(MOMENTS_S))
        assert found.killed or found.code == 0, found.output
        if found.killed:
            cuts.append(found.task)
            print(f"{playbook}: killed in its task {number}: {found.task}", flush=True)
        elif not found.task:
            return cuts
        number += 1
