# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How jobs of one node end, what their user reads, and the objects left of them. gpu02 has its own tests meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from lab.hosts.paths import REPOSITORY
from tests.stack import job_state, ssh, until

from .conftest import (
    ADA,
    IMAGE,
    alone_on,
    closed,
    code,
    ended,
    nothing_left,
    output,
    pods,
    run,
    submit,
    terminal,
)

NODE = "gpu01"
GPUS = ",".join(f"GPU-{index}" for index in range(8))
HERE = f"-N1 -w {NODE}"
TOLD = "Slurm ends this job (scancel, preemption, requeue or its time limit): the pods get SIGTERM"
KILLED = "was killed (exit code 137): by a user or an administrator, or its node ran out of memory"


@pytest.fixture(scope="module", autouse=True)
def lane() -> Iterator[None]:
    with alone_on(NODE):
        yield


@pytest.fixture
def free_node() -> None:
    until(lambda: closed(NODE), 180, f"{NODE} closed and in service")


def example(name: str) -> str:
    return (REPOSITORY / f"examples/{name}.sbatch").read_text()


@dataclass(frozen=True)
class Way:
    """A way to end by oneself: the call, how Slurm's job ends, and what its user reads."""

    name: str
    call: str
    ends: str
    says: str
    options: str = ""


WAYS = (
    Way("one_node", example("one-node"), "COMPLETED|0:0", f"{NODE} uid 2001 {GPUS}"),
    Way("array", example("array"), "COMPLETED|0:0", "checkpoint 5 evaluated", "--array=5"),
    Way(
        "second_call",  # beside what the first one leaves; and $$ is for the shell in the pod
        f"#!/bin/sh\n{run('exit 3')} || {run('echo process $$ of the second')}\n",
        "COMPLETED|0:0",
        "process 1 of the second",
    ),
    Way("code_1", run("echo oh; exit 1"), "FAILED|1:0", f"rank 0 on {NODE} ended with exit code 1"),
    Way("killed", run("sleep 60 & kill -9 $!; wait $!"), "FAILED|137:0", f"rank 0 on {NODE} {KILLED}"),
    Way(
        "no_program",
        "drawbridge-run --image docker.io/lab/python:3 --pull never -- no-such-program",
        "FAILED|127:0",
        f"rank 0 on {NODE} ended with exit code 127",
    ),
    Way(
        "no_image",
        "drawbridge-run --image docker.io/lab/none:1 --patience 30 -- true",
        "FAILED|125:0",
        f"the image can't be pulled on {NODE}: failed to pull and unpack image",
    ),
    Way(
        "no_local_image",
        "drawbridge-run --image docker.io/lab/none:1 --pull never -- true",
        "FAILED|125:0",
        f"rank 0 on {NODE} can't start (ErrImageNeverPull)",
    ),
    Way(
        "no_secret",
        run("true", "--secret-env TOKEN=none/key"),
        "FAILED|125:0",
        f'rank 0 on {NODE} can\'t start (CreateContainerConfigError): secret "none" not found',
    ),
    Way(
        "elsewhere",
        "sh -c 'cd /tmp; drawbridge-run --image docker.io/lab/python:3 -- true'",
        "FAILED|125:0",
        "the pods see /gpfs/fs1, /home, /data, but not /tmp: change to a directory there",
    ),
)


@pytest.fixture(scope="module")
def jobs() -> dict[str, str]:
    """All of them at once: Slurm starts one after the other."""
    return {way.name: submit(f"{HERE} {way.options}", way.call) for way in WAYS}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_the_job_ends_as_its_pod_does_and_its_user_reads_why(way: Way, jobs: dict[str, str]) -> None:
    job = jobs[way.name]
    until(lambda: ended(job), 180, "the job ends")
    said = output(job)
    assert way.says in said, said
    assert code(job) == way.ends, said
    assert pods(job) == []


def test_an_interactive_job_has_a_shell_in_a_pod_of_its_own(free_node: None) -> None:
    wanted = f"salloc --quiet -p ai-train {HERE} --gres=gpu:h100:8 --time=5"
    with terminal(NODE, f"cd {ADA}; runuser -u ada -- {wanted}") as shell:
        shell.sendline("echo j''ob $SLURM_JOB_ID")
        shell.expect(r"job \d+\r")
        job = str(shell.after).split()[1]
        shell.sendline(f"drawbridge-run --shell --image {IMAGE} --pull never --grace 1")
        shell.expect("all pods run")
        shell.sendline("echo rank''=$NODE_RANK uid=$(id -u) $PWD; exit")
        shell.expect(f"rank=0 uid=2001 {ADA}")
    ssh("ctl", f"scancel {job}")
    until(lambda: ended(job), 180, "the job ends")
    nothing_left(job, NODE)


def test_a_dry_run_is_what_would_be_created() -> None:
    job = submit(f"{HERE} --error=/dev/null", run("true", "--dry-run"))
    until(lambda: ended(job), 180, "the job ends")
    (item,) = json.loads(output(job))["items"]
    assert re.fullmatch(rf"slurm-{job}-r0-run-[0-9a-f]{{6}}", item["metadata"]["name"])


WARNED, SAVED = f"{ADA}/warned", f"{ADA}/saved"
LISTENS = (
    f'trap "echo again > {WARNED}" USR1; trap "echo saved > {SAVED}; exit 0" TERM; '
    "echo begun; while :; do sleep 600 & wait; done"
)


@contextmanager
def begun(call: str) -> Iterator[str]:
    """A job whose pod runs."""
    job = submit(HERE, call)
    until(lambda: "begun" in output(job), 180, "the pod runs, and its log comes")
    yield job
    ssh("ctl", f"scancel {job}", check=False)


@pytest.fixture
def long(free_node: None) -> Iterator[str]:
    """One that nothing but a signal ends."""
    with begun(run("echo begun; exec sleep 600", "--grace 1")) as job:
        yield job


@pytest.fixture
def listening(free_node: None) -> Iterator[str]:
    """One that has signals for its programs."""
    ssh(NODE, f"rm -f {WARNED} {SAVED}")
    with begun(run(LISTENS, "--grace 45")) as job:
        yield job


def test_scancel_ends_the_pod(long: str) -> None:
    ssh("ctl", f"scancel {long}")
    until(lambda: ended(long), 180, "the job ends")
    assert TOLD in output(long)
    assert code(long).startswith("CANCELLED")
    nothing_left(long, NODE)


def test_the_program_is_warned_on_request_and_may_save_its_work_when_it_must_end(listening: str) -> None:
    """As with sbatch --signal=B:USR1, which Slurm sends up to a minute too early."""
    ssh("ctl", f"scancel --batch --signal=USR1 {listening}")
    until(lambda: ssh(NODE, f"cat {WARNED} 2>/dev/null || true") == "again", 180, "the program is warned")
    ssh("ctl", f"scancel {listening}")
    until(lambda: ended(listening), 180, "the job ends")
    said = output(listening)
    assert "SIGUSR1 goes on to the programs of 1 pod" in said
    assert TOLD in said
    assert code(listening).startswith("CANCELLED")
    assert ssh(NODE, f"cat {SAVED}") == "saved"
    nothing_left(listening, NODE)


def test_a_process_killed_from_outside_is_reported_like_one_out_of_memory(long: str) -> None:
    until(lambda: ssh(NODE, "pgrep -u ada -x sleep || true"), 180, "the shell has become the program")
    ssh(NODE, "pkill -9 -u ada -x sleep")
    until(lambda: ended(long), 180, "the job ends")
    assert f"rank 0 on {NODE} {KILLED}" in output(long)
    assert code(long) == "FAILED|137:0"
    nothing_left(long, NODE)


def test_a_requeued_job_leaves_nothing_for_its_next_run(long: str) -> None:
    ssh("ctl", f"scontrol requeue {long} && scontrol hold {long}")  # or it starts again two minutes later
    until(lambda: job_state(long) == "PENDING", 110, "requeued")
    assert TOLD in output(long)
    nothing_left(long, NODE)


def test_a_job_that_is_pushed_aside_makes_room(long: str) -> None:
    urgent = submit(f"{HERE} --qos=urgent", run("echo urgent"))
    until(lambda: job_state(long) == "PENDING", 110, "the long one makes room")
    ssh("ctl", f"scontrol hold {long}")  # or it starts again two minutes later
    until(lambda: ended(urgent), 180, "the urgent one ends")
    assert code(urgent) == "COMPLETED|0:0"
    assert TOLD in output(long)
    nothing_left(long, NODE)


def test_a_launcher_that_is_killed_leaves_nothing(long: str) -> None:
    """Cleaning up is the gate's."""
    ssh(NODE, "pkill -9 -u ada -f /usr/local/bin/drawbridge-run")
    until(lambda: ended(long), 180, "the job ends")
    nothing_left(long, NODE)


def test_the_program_is_warned_before_the_time_limit(free_node: None) -> None:
    """After a minute: the limit of two, less grace and margin. Its pod has that long to start."""
    ssh(NODE, f"rm -f {SAVED}")
    job = submit(f"{HERE} --time=2", run(LISTENS, "--grace 45"))
    until(lambda: ended(job), 480, "the job ends")
    assert "time limit is near: the pods get SIGTERM and have 45 s" in output(job)
    assert code(job) == "FAILED|124:0"
    assert ssh(NODE, f"cat {SAVED}") == "saved"
    nothing_left(job, NODE)


@pytest.mark.parametrize(
    ("host", "command", "says"),
    [
        ("login1", "drawbridge-run --image x -- true", "this is no Slurm job: put the line into a batch script"),
        ("login1", "drawbridge-run --image x python train.py", "write -- in front of the command: -- python train.py"),
        (
            NODE,
            "SLURM_JOB_ID=99999 SLURM_JOB_PARTITION=ai-train SLURM_JOB_NODELIST=gpu02 drawbridge-run --image x -- true",
            "this host is not a node of the job: call it on gpu02",
        ),
    ],
)
def test_messages_explain_the_mistakes_of_a_new_user(host: str, command: str, says: str) -> None:
    said = ssh(host, f"cd {'/' if host == 'login1' else ADA}; runuser -u ada -- sh -c '{command}' 2>&1 || echo $?")
    assert says in said
    assert said.endswith("125")
