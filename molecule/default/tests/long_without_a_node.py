# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two nodes that joined retire, one not before its job has ended; and comes back. The last file by its name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lab.hosts.paths import REPOSITORY
from tests.growth import grow

from .conftest import Lab
from .test_gate import HOME, taints
from .test_two_more_nodes import NEW

LEAVES = NEW[1]
STOP = f"{HOME}/stop-{LEAVES}"
JOB = f"#!/bin/sh\nuntil [ -e {STOP} ]; do sleep 0.2; done\n"


@pytest.fixture
def inventory(lab: Lab, tmp_path: Path) -> list[str]:
    """The site with two nodes that have joined."""
    words = grow(tmp_path / "more", *NEW)
    subprocess.run([sys.executable, "lab/lab", "up", *NEW], cwd=REPOSITORY, check=True, capture_output=True)
    joined = lab.playbook("onboard", *words, "-e", f"onboard_nodes={','.join(NEW)}")
    assert joined.code == 0, joined.output
    return words


def out_of_service(lab: Lab) -> str:
    """State and reason of the node with the job, as Slurm has them."""
    return lab.ssh("ctl", f"sinfo -h -n {LEAVES} -o '%T|%E' | sort -u").replace("*|", "|").strip()


def nothing_runs_or_is_mounted(lab: Lab, node: str) -> bool:
    kept = "ls /etc/munge/munge.key /var/lib/drawbridge/gate/node.token 2>/dev/null; grep gpfs /proc/mounts"
    running = "systemctl is-active kubelet slurmd munge drawbridge-gate.timer | grep -x active"
    return lab.ssh(node, f"{kept}; {running}", check=False) == ""


def members(lab: Lab) -> str:
    return lab.ssh("nsd1", "/usr/lpp/mmfs/bin/mmlscluster")


def test_it_waits_for_a_job_then_leaves_everything_and_can_come_back(lab: Lab, inventory: list[str]) -> None:
    retire = (*inventory, "-e", f"retire_nodes={','.join(NEW)}", "-e", "slurm_controller_job_wait_s=1")
    words = f"sbatch --parsable -p ai-train -w {LEAVES} --chdir={HOME} --output=/dev/null"
    job = lab.ssh("login1", f"runuser -u ada -- {words}", stdin=JOB).strip()
    lab.wait(f"job {job} runs", lambda: lab.ssh("login1", f"squeue -h -j {job} -o %T").strip() == "RUNNING")

    waits = lab.playbook("retire", *retire)
    assert waits.code == 0, waits.output
    assert out_of_service(lab) == "draining|drawbridge: retires"
    assert f"Slurm job {job} is on {LEAVES}; run this again when it has ended" in str(list(waits.results()))
    assert nothing_runs_or_is_mounted(lab, NEW[0])
    assert NEW[0] not in members(lab)
    lab.ssh(LEAVES, f"touch {STOP}")
    lab.wait(f"job {job} ends", lambda: lab.gone(job))
    assert lab.booked(job) == ["COMPLETED", "0:0"]
    lab.wait("the node is closed", lambda: taints(lab, [LEAVES]) == {LEAVES: "closed"})

    left = lab.playbook("retire", *retire)
    assert left.code == 0, left.output
    assert taints(lab, NEW) == {}
    assert LEAVES not in members(lab)
    assert nothing_runs_or_is_mounted(lab, LEAVES)
    again = lab.playbook("retire", *retire)
    assert (again.code, again.changed()) == (0, []), again.output

    back = lab.playbook("onboard", *inventory, "-e", f"onboard_nodes={LEAVES}")
    assert back.code == 0, back.output
    lab.wait("it takes jobs", lambda: out_of_service(lab).startswith("idle"))
    assert taints(lab, [LEAVES]) == {LEAVES: "closed"}
