# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs that Slurm starts without their PrologSlurmctld, and pods with the groups that it wrote.

Slurm 25.11.7 and 26.05 do so when slurmctld stops meanwhile. Here the gate's part of the script is taken away.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stack import NODES, all_usable, comment, job_state, pods_for, quiet, reasons, sbatch, ssh, until

OPENER = "/etc/drawbridge/slurm/prolog_slurmctld.d/50-gate"
BEGAN = "/tmp/began"
GROUP = 4242

pytestmark = pytest.mark.usefixtures("impatient", "usable_before")


@pytest.fixture
def without_opener() -> Iterator[None]:
    """Slurm calls jobs running although nothing opened their nodes."""
    ssh("ctl", f"mv {OPENER} /root/50-gate")
    try:
        yield
    finally:
        ssh("ctl", f"mv /root/50-gate {OPENER}")


@pytest.mark.usefixtures("without_opener")
@pytest.mark.parametrize(
    ("timer", "cause"),
    [("stop", "was not opened for it (closed)"), ("start", "its nodes were never opened")],
    ids=["by its node", "by the controller"],
)
def test_a_job_whose_node_is_closed_runs_again_and_no_node_is_drained(timer: str, cause: str) -> None:
    """The controller's timer is so quick here that it comes before the nodes."""
    # a run that is under way would come before the nodes, too
    ssh("ctl", f"systemctl {timer} drawbridge-gate.timer drawbridge-gate.service || true")
    jobs = [quiet(f"-N1 -w {node}", f"#!/bin/sh\ntouch {BEGAN}.$SLURM_JOB_ID\nsleep 600\n") for node in NODES]
    try:
        for job in jobs:
            until(lambda job=job: cause in comment(job), 180, "the cause in AdminComment")
            until(lambda job=job: job_state(job) == "PENDING", 180, "requeued")
    finally:
        ssh("ctl", f"scancel {' '.join(jobs)}; systemctl start drawbridge-gate.timer")
    assert not any(reasons().values())
    assert [ssh(node, f"ls {BEGAN}.* 2>/dev/null || true") for node in NODES] == [""] * len(NODES)


@pytest.mark.usefixtures("without_opener")
def test_an_interactive_job_ends() -> None:
    said = ssh("ctl", f"cd /; runuser -u ada -- srun -p ai-train -N1 -w gpu01 touch {BEGAN}.srun 2>&1; echo code $?")
    assert not said.endswith("code 0"), said
    until(lambda: all_usable(NODES), 180, "all nodes in service")
    assert ssh("gpu01", f"ls {BEGAN}.srun 2>/dev/null || true") == ""


@pytest.fixture
def project() -> Iterator[None]:
    """A group of ada's, which the controller knows."""
    ssh("ctl", f"groupadd --gid {GROUP} project && usermod --append --groups project ada")
    try:
        yield
    finally:
        ssh("ctl", "gpasswd --delete ada project; groupdel project")


@pytest.mark.usefixtures("project")
def test_pods_have_the_users_groups_and_no_others() -> None:
    script = pods_for("0").replace("import time; time.sleep({0})", "import os; print(os.getgroups(), os.getgid())")
    job = sbatch("-w gpu01,gpu02 --output=/home/ada/groups", script)
    until(lambda: job_state(job) == "COMPLETED", 180, "the job is over")
    said = ssh("gpu01", "cat /home/ada/groups")
    assert said.count(f"[3001, {GROUP}] 3001") == 2, said
