# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What takes minutes on a real Slurm: `pytest molecule/slurm_gate/tests/long_gate.py` on a lab that the scenario built.

Not part of the scenario; docs/concepts/gate.md has the last results.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest

from lab.hosts.paths import REPOSITORY

from .conftest import (
    ALLREDUCE,
    NODES,
    all_usable,
    comment,
    job_state,
    kube,
    pods,
    quiet,
    sbatch,
    ssh,
    state,
    until,
)

SLOW = ALLREDUCE.replace("import array", "import time; time.sleep(600)")


def lab(*words: str) -> None:
    subprocess.run([sys.executable, str(REPOSITORY / "lab/lab"), *words], check=True, capture_output=True)


def test_a_requeued_job_gets_clean_nodes_again() -> None:
    job = sbatch("--output=/dev/null", SLOW)
    until(lambda: len(pods()) == 2, 90, "both pods run")
    first = set(pods())
    ssh("ctl", f"scontrol requeue {job}")
    until(all_usable, 90, "nodes closed in between")
    until(lambda: len(pods()) == 2, 240, "both pods run again")
    assert not first & set(pods())
    assert all("-r1-" in name for name in pods())
    ssh("ctl", f"scancel {job}")


def test_a_job_at_its_time_limit_leaves_clean_nodes() -> None:
    job = sbatch("--output=/dev/null --time=1", SLOW.replace("#SBATCH --time=10\n", ""))
    until(lambda: len(pods()) == 2, 90, "both pods run")
    until(lambda: job_state(job) == "TIMEOUT", 180, "the limit")
    until(all_usable, 120, "nodes closed")
    assert not kube().list_namespaced_pod("vision").items


def test_a_restart_of_slurmctld_while_nodes_are_opened_loses_nothing() -> None:
    """Slurm kills the opener and runs it again. The node is dirty, so that the opener is at work for a while."""
    job = sbatch("--output=/home/ada/%j.out", ALLREDUCE)
    for _ in range(3):
        ssh("ctl", "systemctl restart slurmctld")
        time.sleep(random.Random(job).uniform(0.2, 1.5))
    until(lambda: job_state(job) == "COMPLETED", 400, "the job completes")
    until(all_usable, 90, "nodes closed")


def test_a_job_whose_nodes_never_open_is_held_in_the_end_and_says_why() -> None:
    ssh("ctl", "systemctl stop kube-apiserver")
    try:
        job = quiet("-N1 -w gpu01")
        until(lambda: "try 1 of 5" in comment(job), 60, "the first try")
        held = f"drawbridge gate: try 4 of 5 (run {int(restarts(job)) - 1}): no answer"
        ssh("ctl", f"scontrol update jobid={job} admincomment='{held}' starttime=now")
        until(lambda: "try 5 of 5" in comment(job), 200, "the fifth try")
        until(lambda: "Priority=0" in ssh("ctl", f"scontrol show job {job}"), 60, "held")
    finally:
        ssh("ctl", "systemctl start kube-apiserver")
    ssh("ctl", f"scancel {job}")


def restarts(job: str) -> str:
    return ssh("ctl", f"scontrol show job {job}").partition("Restarts=")[2].split()[0]


def test_an_interactive_job_ends_with_the_cause() -> None:
    ssh("ctl", "systemctl stop kube-apiserver")
    try:
        said = ssh("ctl", "cd /; runuser -u ada -- srun -p ai-train -N1 true 2>&1 || true")
    finally:
        ssh("ctl", "systemctl start kube-apiserver")
    assert "drawbridge gate: the API server at" in said, said


def test_a_batch_job_that_slurmd_lost_in_its_prolog_runs_again() -> None:
    part = "/etc/drawbridge/slurm/prolog.d/90-slow"
    ssh("gpu01", f"printf '#!/bin/sh\nsleep 20\n' > {part}; chmod 755 {part}")
    try:
        job = quiet("-N1 -w gpu01")
        until(lambda: state("gpu01") == f"vision.{job}", 30, "the node is held")
        until(lambda: ssh("gpu01", "pgrep -f '[9]0-slow' || true"), 30, "the prolog is at work")
        ssh("gpu01", "systemctl kill --signal=KILL slurmd; pkill -f '[9]0-slow'; systemctl restart slurmd")
    finally:
        ssh("gpu01", f"rm {part}")
    until(lambda: "its batch script never started on gpu01" in comment(job), 120, "found")
    until(lambda: job_state(job) == "COMPLETED", 300, "the job completes")


@pytest.mark.parametrize("hosts", [("gpu02",), NODES, ("ctl", *NODES)], ids=len)
def test_power_cut_in_mid_job(hosts: tuple[str, ...]) -> None:
    job = sbatch("--output=/dev/null", SLOW)
    until(lambda: len(pods()) == 2, 90, "both pods run")
    lab("power-cut", *hosts)
    lab("up", *hosts)  # all at once: a node's boot waits for its controller
    begun = time.monotonic()
    until(lambda: not any(state(node) == f"vision.{job}" for node in NODES), 240, "no node is held by that run")
    ssh("ctl", f"scancel {job}")
    until(all_usable, 300, "all nodes back, without a person")
    print(f"{len(hosts)} hosts: usable {time.monotonic() - begun:.0f} s after the last boot")
