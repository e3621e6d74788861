# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What takes minutes on a real Slurm: `LAB_ID=59 pytest molecule/slurm_gate/tests/long_gate.py`, in the scenario's lab.

Not part of the scenario; docs/concepts/gate-evidence.md has the last results.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

from tests.races.race import race
from tests.stack import (
    ALLREDUCE,
    CONTROLLER,
    NODES,
    SHORTEST,
    all_usable,
    answering,
    api_down,
    comment,
    ghost,
    impatient,
    job_state,
    lab,
    pods,
    pods_for,
    quiet,
    reason,
    sbatch,
    shown,
    ssh,
    state,
    until,
)

pytestmark = pytest.mark.usefixtures("most_impatient", "usable_before")


@pytest.fixture(scope="module")
def most_impatient() -> Iterator[None]:
    with impatient(NODES, SHORTEST):
        yield


def usable() -> bool:
    return all_usable(NODES)


def test_two_hundred_races_of_ends_and_bindings() -> None:
    outcome = race(200)
    print(outcome)
    assert outcome.wrong == []
    assert outcome.late > 0 and outcome.refused > 0


def test_a_restart_of_slurmctld_while_nodes_are_opened_loses_nothing() -> None:
    """Slurm kills the opener and runs it again. The node is dirty, so that the opener is at work for a while."""
    job = sbatch("--output=/home/ada/%j.out", ALLREDUCE)
    for _ in range(3):
        ssh("ctl", "systemctl restart slurmctld")
        time.sleep(random.Random(job).uniform(0.2, 1.5))
    until(lambda: job_state(job) == "COMPLETED", 400, "the job completes")
    until(usable, 90, "nodes closed")


def test_a_job_whose_nodes_never_open_is_held_in_the_end_and_says_why() -> None:
    with api_down():
        job = quiet("-N1 -w gpu01")
        for number in range(1, 6):
            until(lambda number=number: f"try {number} of 5" in comment(job), 200, f"try {number}")
            if number < 5:
                until(lambda: "Reason=BeginTime" in shown(job), 60, "requeued with a start time")
                ssh("ctl", f"scontrol update jobid={job} starttime=now")  # which is two minutes away
        until(lambda: "Priority=0" in shown(job), 60, "held")
        assert "does not answer" in comment(job)
    ssh("ctl", f"scancel {job}")


def test_a_batch_job_that_slurmd_lost_in_its_prolog_runs_again() -> None:
    part = "/etc/drawbridge/slurm/prolog.d/90-slow"
    ssh("gpu01", f"printf '#!/bin/sh\nsleep 20\n' > {part}; chmod 755 {part}")
    try:
        job = quiet("-N1 -w gpu01")
        until(lambda: state("gpu01") == f"vision.{job}", 60, "the node is held")
        until(lambda: ssh("gpu01", "pgrep -f '[9]0-slow' || true"), 30, "the prolog is at work")
        ssh("gpu01", "systemctl kill --signal=KILL slurmd; pkill -f '[9]0-slow'; systemctl restart slurmd")
    finally:
        ssh("gpu01", f"rm {part}")
    until(lambda: "its batch script never started on gpu01" in comment(job), 240, "found")
    until(lambda: job_state(job) == "COMPLETED", 300, "the job completes")


def test_a_node_whose_epilog_was_orphaned_opens_for_no_job_until_it_is_empty() -> None:
    """slurmd is killed in an epilog; Slurm takes the node for idle a minute later, whatever becomes of the epilog."""
    job = quiet("-N1 -w gpu01", "#!/bin/sh\nsleep 1\n")
    with ghost("gpu01"):
        until(lambda: state("gpu01") == f"dirty_vision.{job}", 60, "its epilog looks for what is left")
        ssh("gpu01", "systemctl kill --kill-whom=main -s KILL slurmd; systemctl reset-failed slurmd")
        ssh("gpu01", "systemctl start slurmd")
        until(lambda: "uses a GPU" in reason("gpu01"), 60, "drained by the orphan, or the timer")
        until(lambda: job_state(job) == "COMPLETED" and "drained" in sinfo("gpu01"), 180, "Slurm calls the job over")
        assert state("gpu01") == f"dirty_vision.{job}"
    until(usable, 60, "in service")


def sinfo(node: str) -> str:
    return ssh("ctl", f"sinfo -h -n {node} -o %T")


ALL = (CONTROLLER, *NODES)


@pytest.mark.parametrize(
    ("hosts", "seed"),
    [(("gpu02",), 0), (NODES, 1), (NODES, 2), (ALL, 3), (ALL, 4), (ALL, 5)],
    ids=lambda it: len(it) if isinstance(it, tuple) else f"seed{it}",
)
def test_power_cut_in_mid_job(hosts: tuple[str, ...], seed: int) -> None:
    """Everything goes at once; hosts come back one after the other, in any order."""
    dice = random.Random(seed)
    jobs = [sbatch(f"-w {pair} --output=/dev/null", pods_for("600")) for pair in ("gpu01,gpu02", "gpu03,gpu04")]
    until(lambda: len(pods()) == 4, 120, "all four pods run")
    lab("power-cut", *hosts)
    order = dice.sample(hosts, len(hosts))
    for host in order:
        lab("up", host)
        time.sleep(dice.choice((0, 5, 20)))  # how far the hosts' boots are apart
    begun = time.monotonic()
    until(answering, 120, "API server and Slurm answer")
    held = [f"vision.{job}" for job in jobs]
    taken = {node for node in hosts if node in NODES}
    until(lambda: not any(state(node) in held for node in taken), 240, "no node is held by a run of before")
    ssh("ctl", f"scancel {' '.join(jobs)}")
    until(usable, 300, "all nodes back, without a person")
    print(f"{' '.join(order)}: usable {time.monotonic() - begun:.0f} s after the last boot began")
