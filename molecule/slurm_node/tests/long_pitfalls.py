# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Slurm does against expectation, on real daemons; docs/concepts/slurm-pitfalls.md says which test holds which."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator

import pytest

from lab.hosts.paths import Paths
from tests.waiting import until

SSH = ["ssh", "-F", str(Paths.of().ssh_config)]
PARTS = "/etc/drawbridge/slurm"
NODE, OTHER = "gpu01", "gpu02"
SCRATCH = "/run/trap"
PATIENCE_S = 300
"""Slurm asks a node again after a minute or two, once it has missed an answer."""


def ssh(host: str, command: str) -> str:
    done = subprocess.run([*SSH, host, command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{host}: {command}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def part(host: str, kind: str, name: str, body: str) -> None:
    """It comes whole: a dispatcher that finds one which it can't run fails."""
    path = f"{PARTS}/{kind}.d/{name}"
    write = f"printf '#!/bin/sh\\n%s\\n' {shlex.quote(body)} > {path}.new"
    ssh(host, f"{write} && chmod 755 {path}.new && mv {path}.new {path}")


def submit(options: str, command: str = "sleep 3000") -> str:
    sbatch = f"sbatch --parsable -p hpc --output=/dev/null {options} --wrap={shlex.quote(command)}"
    return ssh(NODE, f"cd /; runuser -u ada -- {sbatch}")


def slurm(command: str) -> str:
    """What slurmctld answers, which may be down at this moment, or late."""
    return until(lambda: ssh("ctl", command), PATIENCE_S, command)


def job(number: str, field: str) -> str:
    told = dict(pair.split("=", 1) for pair in slurm(f"scontrol show job {number} -o").split() if "=" in pair)
    return told[field]


def started(node: str) -> str:
    """When the slurmd started that has registered last."""
    return slurm(f"scontrol show node {node} -o").partition("SlurmdStartTime=")[2].split()[0]


def reason(node: str) -> str:
    return slurm(f"sinfo -h -n {node} -o '%T %E'")


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """No jobs, no parts and no drains before, and none left."""
    yield
    ssh("ctl", f"scancel --partition=hpc; rm -f {PARTS}/prolog_slurmctld.d/99-trap")
    for node in (NODE, OTHER):
        ssh(node, f"rm -rf {PARTS}/prolog.d/99-trap {PARTS}/epilog.d/??-trap {SCRATCH}*; systemctl start slurmd")
    until(lambda: not ssh("ctl", "squeue -h -p hpc"), PATIENCE_S, "no jobs")
    until(idle, PATIENCE_S, "nodes are idle")


def idle() -> bool:
    """Whether both nodes can take jobs; drained ones are undrained."""
    told = ssh("ctl", f"sinfo -h -N -p hpc -n {NODE},{OTHER} -o '%N %T'")
    # a node whose last answer is a while ago has a star
    states = dict(line.rstrip("*").split() for line in told.splitlines())
    for node in (node for node, state in states.items() if state == "drained"):
        ssh("ctl", f"scontrol update nodename={node} state=undrain")
    return set(states.values()) == {"idle"}


def test_a_failed_prolog_says_why_and_holds_no_job() -> None:
    part(NODE, "prolog", "99-trap", "exit 3")
    part(NODE, "epilog", "50-trap", f"echo $SLURM_JOB_RESTART_COUNT > {SCRATCH}")
    number = submit(f"-w {NODE}")
    until(lambda: "prolog part 99-trap ended with code 3" in reason(NODE), PATIENCE_S, "the node is drained")
    assert f"in job {number};" in reason(NODE)
    until(
        lambda: job(number, "Restarts") == "1" and job(number, "Reason") == "BeginTime",
        PATIENCE_S,
        "the job waits again",
    )
    assert int(job(number, "Priority")) > 0
    # the epilog runs where the prolog failed, and counts the try that is still to come
    until(lambda: ssh(NODE, f"cat {SCRATCH} || true") == "1", PATIENCE_S, "the epilog ran")


def test_a_failed_epilog_says_why_and_the_other_parts_run() -> None:
    part(NODE, "epilog", "60-trap", "exit 7")
    part(NODE, "epilog", "50-trap", f"env > {SCRATCH}.new; mv {SCRATCH}.new {SCRATCH}")
    number = submit(f"-w {NODE}", "true")
    until(lambda: ssh(NODE, f"ls {SCRATCH} || true"), PATIENCE_S, "the later part ran")
    told = dict(line.split("=", 1) for line in ssh(NODE, f"cat {SCRATCH}").splitlines() if "=" in line)
    assert (told["SLURM_JOB_ID"], told["SLURM_JOB_ACCOUNT"]) == (number, "vision")
    # Slurm tells neither; the path is the dispatcher's
    assert not {"SLURM_JOB_NAME", "SLURM_JOB_QOS"} & told.keys()
    assert "/usr/bin" in told["PATH"]
    until(lambda: "epilog part 60-trap ended with code 7" in reason(NODE), PATIENCE_S, "the node is drained")
    # an earlier part has drained it: this epilog may still be on its way
    until(lambda: job(number, "JobState") == "COMPLETED", PATIENCE_S, "the job is over")


def test_a_failed_script_of_the_controller_drains_nothing() -> None:
    part("ctl", "prolog_slurmctld", "99-trap", "exit 1")
    number = submit(f"-w {NODE}")
    until(
        lambda: job(number, "Restarts") == "1" and job(number, "Reason") == "BeginTime",
        PATIENCE_S,
        "the job waits again",
    )
    assert "drain" not in reason(NODE)


def test_without_defer_batch_a_launch_outlives_changes_during_its_prolog() -> None:
    part(NODE, "prolog", "99-trap", f"touch {SCRATCH}; while test -e {SCRATCH}; do sleep 0.1; done")
    number = submit(f"-w {NODE}", f"until test -e {SCRATCH}.go; do sleep 0.2; done")
    until(lambda: ssh(NODE, f"ls {SCRATCH} || true"), PATIENCE_S, "the prolog runs")
    for change in ("scontrol reconfigure", "systemctl restart slurmctld"):
        slurm(f"{change} && echo done")
        until(lambda: "UP" in ssh("ctl", "scontrol ping || true"), PATIENCE_S, "slurmctld answers")
    ssh(NODE, f"rm {SCRATCH}; touch {SCRATCH}.go")
    until(lambda: job(number, "JobState") == "COMPLETED", PATIENCE_S, "the script ran to its end")
    assert job(number, "Restarts") == "0"


def test_a_job_whose_slurmd_died_in_its_prolog_is_stuck_until_it_is_requeued() -> None:
    part(
        NODE, "prolog", "99-trap", f"touch {SCRATCH}; while test -e {SCRATCH}; do sleep 0.1; done; touch {SCRATCH}.end"
    )
    number = submit(f"-w {NODE}")
    until(lambda: ssh(NODE, f"ls {SCRATCH} || true"), PATIENCE_S, "the prolog runs")
    before = started(NODE)
    ssh(NODE, "systemctl kill --kill-whom=main -s KILL slurmd; systemctl reset-failed slurmd; systemctl restart slurmd")
    ssh(NODE, f"rm {SCRATCH}")
    until(lambda: ssh(NODE, f"ls {SCRATCH}.end || true"), PATIENCE_S, "the orphan ended")
    until(lambda: started(NODE) != before, PATIENCE_S, "the new slurmd registered")
    until(lambda: reason(NODE).startswith(("idle", "alloc", "mix")), PATIENCE_S, "its node is in service")
    assert (job(number, "JobState"), job(number, "Reason")) == ("RUNNING", "Prolog")
    assert not ssh(NODE, f"scontrol listpids {number} 2>/dev/null | grep -w batch || true")
    ssh("ctl", f"scontrol requeue {number}")
    until(lambda: job(number, "JobState") == "PENDING", PATIENCE_S, "it waits again")


def test_a_node_whose_slurmd_died_in_an_epilog_is_idle_until_the_dispatcher_says_otherwise() -> None:
    part(NODE, "epilog", "50-trap", f"touch {SCRATCH}; while test -e {SCRATCH}; do sleep 0.1; done; exit 7")
    number = submit(f"-w {NODE}", "true")
    until(lambda: ssh(NODE, f"ls {SCRATCH} || true"), PATIENCE_S, "the epilog runs")
    ssh(NODE, "systemctl kill --kill-whom=main -s KILL slurmd; systemctl reset-failed slurmd; systemctl restart slurmd")
    # slurmctld asks again when it starts, or else after a minute; the new slurmd answers that this epilog isn't its own
    ssh("ctl", "systemctl restart slurmctld")
    # a slurmctld that has just started shows nodes as idle before it has learned what ends there
    over = "COMPLETED"
    until(
        lambda: job(number, "JobState") == over and reason(NODE).startswith("idle"), PATIENCE_S, "Slurm calls it idle"
    )
    ssh(NODE, f"rm {SCRATCH}")
    until(
        lambda: f"epilog part 50-trap ended with code 7 in job {number}" in reason(NODE),
        PATIENCE_S,
        "the orphan drained it",
    )


def test_slurm_does_not_notice_a_fast_reboot() -> None:
    number = submit(f"-N2 -w {NODE},{OTHER}")
    until(lambda: job(number, "JobState") == "RUNNING", PATIENCE_S, "it runs")
    other = {NODE: OTHER, OTHER: NODE}[job(number, "BatchHost")]
    before = started(other)
    ssh(other, "systemctl kill -s KILL slurmd; systemctl reset-failed slurmd; systemctl start slurmd")
    until(lambda: started(other) != before, PATIENCE_S, "the new slurmd registered")
    until(lambda: not set("*~#") & set(reason(other).split()[0]), PATIENCE_S, "it answers")
    assert (job(number, "JobState"), job(number, "Restarts")) == ("RUNNING", "0")
