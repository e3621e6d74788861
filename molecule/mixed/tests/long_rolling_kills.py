# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: rolling.yml is killed in each of its tasks, and run again.

The gated node and the other one take their turns. KILLS="3 7" repeats some.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from lab.hosts.paths import REPOSITORY

from .test_rolling import CHANGE, INVENTORY, Lab, lab, rolling, unavailable, work

__all__ = ["lab", "work"]

NODES = ("gpu01", "cpu01")
TASKS = range(2, 25)
"""The first task checks the intent; a run of two waves has fewer than these."""
KILLS = [int(number) for number in os.environ.get("KILLS", "").split()] or TASKS


def killed(lab: Lab, number: int, options: list[str]) -> bool:
    """Run it until its task of this number has begun, then kill all its processes. Returns whether it came so far."""
    argv = ["ansible-playbook", "-i", INVENTORY, "playbooks/rolling.yml", "-e", f"nodes={','.join(NODES)}", *options]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        argv,
        cwd=REPOSITORY,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as run:
        assert run.stdout
        begun = 0
        for line in run.stdout:
            begun += line.startswith("TASK [")
            if begun == number:
                os.killpg(run.pid, signal.SIGKILL)
                return True
    return False


@pytest.mark.parametrize("number", KILLS)
def test_a_killed_run_is_finished_by_the_next(lab: Lab, work: Path, number: int) -> None:
    name = f"kill-{number}"
    options = ["-e", f"maintenance={name}", "-e", f"maintenance_tasks={work}", "-e", "wave=1"]
    if not killed(lab, number, options):
        pytest.skip("the run has fewer tasks")
    again = rolling(lab, name, *options, nodes=",".join(NODES))
    assert again.code == 0, again.output
    assert [lab.ssh(node, f"cat {CHANGE}") for node in NODES] == [name] * 2
    assert unavailable(lab) == {}
    third = rolling(lab, name, *options, nodes=",".join(NODES))
    assert (third.code, third.changed()) == (0, []), third.output
