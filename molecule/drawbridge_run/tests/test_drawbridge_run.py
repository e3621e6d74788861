# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a user sees of a workload: its output, its files, how its job ends, and what is left of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lab.hosts.paths import REPOSITORY

from .conftest import (
    HOME,
    NODES,
    closed,
    code,
    ended,
    kubectl,
    nothing_left,
    output,
    pods,
    run,
    running,
    ssh,
    state,
    submit,
    until,
)

SLEEP = "echo begun; exec sleep 600"
ADA = HOME.format("ada")
KILLED = "was killed (exit code 137): somebody did that, or its node ran out of memory"


@pytest.fixture(autouse=True)
def free_nodes() -> None:
    until(closed, 120, "both nodes closed and in service")


@dataclass(frozen=True)
class Way:
    """A way to end by oneself: what is called, how Slurm's job ends, and what its user reads."""

    name: str
    call: str
    ends: str
    says: str
    options: str = "-N1"


WAYS = (
    Way("well", run("echo fine"), "COMPLETED|0:0", "fine"),
    Way("code_1", run("echo oh; exit 1"), "FAILED|1:0", "rank 0 on {node} ended with exit code 1"),
    Way("killed", run("sleep 60 & kill -9 $!; wait $!"), "FAILED|137:0", f"rank 0 on {{node}} {KILLED}"),
    Way(
        "rank_1",
        run("[ $NODE_RANK = 0 ] && exec sleep 60; echo boom; exit 3"),
        "FAILED|3:0",
        "[rank 1] boom\ndrawbridge-run: rank 1 on gpu02 ended with exit code 3",
        "-N2",
    ),
    Way(
        "no_program",
        "drawbridge-run --image docker.io/lab/python:3 --pull never -- no-such-program",
        "FAILED|127:0",
        "rank 0 on {node} ended with exit code 127",
    ),
    Way(
        "no_image",
        "drawbridge-run --image docker.io/lab/none:1 --patience 8 -- true",
        "FAILED|125:0",
        "the image can't be pulled on {node}: failed to pull and unpack image",
    ),
    Way(
        "no_local_image",
        "drawbridge-run --image docker.io/lab/none:1 --pull never -- true",
        "FAILED|125:0",
        "rank 0 on {node} can't start (ErrImageNeverPull)",
    ),
    Way(
        "no_secret",
        run("true", "--secret-env TOKEN=none/key"),
        "FAILED|125:0",
        'rank 0 on {node} can\'t start (CreateContainerConfigError): secret "none" not found',
    ),
    Way(
        "elsewhere",
        f"sh -c 'cd /tmp; {run('true')}'".replace("sh -c true", "true").replace("'true'", "true"),
        "FAILED|125:0",
        "the pods see /gpfs/fs1, but not /tmp: change to a directory there",
    ),
)


@pytest.fixture(scope="module")
def jobs() -> dict[str, str]:
    """All of them at once: they share two nodes as Slurm sees fit."""
    found = {way.name: submit(way.options, way.call) for way in WAYS}
    for name, job in found.items():
        until(lambda job=job: ended(job), 180, f"{name} ends")
    return found


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_the_job_ends_as_its_pods_do_and_its_user_reads_why(way: Way, jobs: dict[str, str]) -> None:
    job = jobs[way.name]
    said = output(job)
    node = ssh("ctl", f"sacct -n -X -P -j {job} -o NodeList")
    assert way.says.format(node=node) in said, said
    assert code(job) == way.ends, said
    assert pods(job) == []


def test_two_nodes_add_up_their_numbers_as_the_submitting_user() -> None:
    ssh("gpu01", f"cat > {ADA}/all_reduce.py", (REPOSITORY / "examples/all_reduce.py").read_text())
    ssh("gpu01", f"rm -f {ADA}/sum-*; chown ada:vision {ADA}/all_reduce.py")
    job = submit("", (REPOSITORY / "examples/two-nodes.sbatch").read_text())
    until(lambda: ended(job), 120, "the job ends")
    said = output(job)
    for rank, node in enumerate(NODES):
        assert f"[rank {rank}] rank {rank} on {node} as uid 2001 with 8 GPUs: sum 3.0, expected 3.0" in said, said
    assert code(job) == "COMPLETED|0:0"
    assert ssh("gpu02", f"stat -c '%U:%G %a' {ADA}/sum-0.txt {ADA}/sum-1.txt").split("\n") == ["ada:vision 644"] * 2
    nothing_left(job)


@pytest.fixture
def long() -> Iterator[str]:
    """A job of two nodes whose pods run."""
    job = submit("-N2", run(SLEEP, "--all-logs --grace 5"))
    until(lambda: running(job) == 2, 60, "both pods run")
    yield job
    ssh("ctl", f"scancel {job}", check=False)


def test_scancel_ends_the_pods(long: str) -> None:
    ssh("ctl", f"scancel {long}")
    until(lambda: ended(long), 60, "the job ends")
    assert "Slurm ends this job (scancel, preemption, requeue or its time limit): the pods are told" in output(long)
    assert code(long).startswith("CANCELLED")
    nothing_left(long)


def test_a_process_killed_from_outside_is_told_like_one_out_of_memory(long: str) -> None:
    ssh("gpu02", "pkill -9 -u ada -x sleep")
    until(lambda: ended(long), 60, "the job ends")
    assert f"rank 1 on gpu02 {KILLED}" in output(long)
    assert code(long) == "FAILED|137:0"
    nothing_left(long)


def test_a_requeued_job_leaves_nothing_for_its_next_run(long: str) -> None:
    ssh("ctl", f"scontrol requeue {long}")
    until(lambda: state(long) == "PENDING", 60, "requeued")
    assert "Slurm ends this job" in output(long)
    nothing_left(long)


def test_a_job_that_is_pushed_aside_makes_room(long: str) -> None:
    urgent = submit("-N2 --qos=urgent", run("echo urgent"))
    until(lambda: ended(urgent), 90, "the urgent one ends")
    assert code(urgent) == "COMPLETED|0:0"
    assert "Slurm ends this job" in output(long)
    ssh("ctl", f"scancel {long}")
    nothing_left(long)


def test_the_pods_are_told_before_the_time_limit_comes() -> None:
    trap = f'trap "echo saved > {ADA}/checkpoint; exit 0" TERM; sleep 600 & wait'
    ssh("gpu01", f"rm -f {ADA}/checkpoint")
    job = submit("-N1 --time=1", run(trap, "--grace 20"))
    until(lambda: ended(job), 120, "the job ends")
    assert "time limit is near: the pods are told to end (SIGTERM) and have 20 s" in output(job)
    assert code(job) == "FAILED|124:0"
    assert ssh("gpu01", f"cat {ADA}/checkpoint") == "saved"
    nothing_left(job)


def test_a_launcher_that_is_killed_leaves_nothing(long: str) -> None:
    """Cleaning up is the gate's."""
    first = ssh("ctl", f"scontrol show hostnames $(squeue -h -j {long} -o %N)").split()[0]
    ssh(first, "pkill -9 -u ada -f /usr/local/bin/drawbridge-run")
    until(lambda: ended(long), 60, "the job ends")
    nothing_left(long)


def test_an_api_server_that_goes_away_for_a_while_ends_nothing() -> None:
    job = submit("-N2", run("echo begun; sleep 25; echo through", "--all-logs"))
    until(lambda: running(job) == 2, 60, "both pods run")
    ssh("ctl", "systemctl stop kube-apiserver; sleep 10; systemctl start kube-apiserver")
    until(lambda: ended(job), 120, "the job ends")
    assert code(job) == "COMPLETED|0:0"
    said = output(job)
    assert sorted(line for line in said.splitlines() if line.startswith("[")) == [
        f"[rank {rank}] {word}" for rank in (0, 1) for word in ("begun", "through")
    ], said
    nothing_left(job)


def gpus(node: str) -> str:
    return kubectl("get", "node", node)["status"]["allocatable"]["nvidia.com/gpu"]


def test_pods_without_room_are_told_so() -> None:
    """As if the GPUs' device plugin had gone."""
    ssh("gpu01", "systemctl stop lab-device-plugin")
    try:
        until(lambda: gpus("gpu01") == "0", 60, "no GPUs are offered")
        job = submit("-N1 -w gpu01", run("true", "--patience 5"))
        until(lambda: ended(job), 60, "the job ends")
    finally:
        ssh("gpu01", "systemctl start lab-device-plugin")
        until(lambda: gpus("gpu01") == "8", 60, "GPUs are offered again")
    assert "a pod gets none of the job's nodes:" in output(job)
    assert "Insufficient nvidia.com/gpu" in output(job)
    assert code(job) == "FAILED|125:0"


def test_a_lost_node_ends_the_job() -> None:
    """The kubelet dies; Slurm's half of the node lives on, and nobody can prove it empty before it is back."""
    job = submit("-N2", run(SLEEP, "--all-logs --grace 5"))
    until(lambda: running(job) == 2, 60, "both pods run")
    lost = "rank 1 on gpu02 is lost: its node's kubelet reports no more"
    ssh("gpu02", "systemctl stop kubelet")
    try:
        until(lambda: output(job).count(lost) == 2, 150, "said when it is seen, and again when it stays so")
    finally:
        ssh("gpu02", "systemctl start kubelet")
    until(lambda: ended(job), 60, "the job ends")
    assert code(job) == "FAILED|125:0"
    nothing_left(job)


def test_a_dry_run_is_what_would_be_created() -> None:
    job = submit("-N2", run("true", "--dry-run"))
    until(lambda: ended(job), 60, "the job ends")
    (item,) = json.loads(output(job))["items"]
    assert item["metadata"]["name"] == f"slurm-{job}-r0-run"


@pytest.mark.parametrize(
    ("host", "command", "says"),
    [
        ("login1", "drawbridge-run --image x -- true", "this is no Slurm job: put the line into a batch script"),
        ("login1", "drawbridge-run --image x python train.py", "write -- in front of the command: -- python train.py"),
        (
            "gpu01",
            "SLURM_JOB_ID=99999 SLURM_JOB_PARTITION=ai-train SLURM_JOB_NODELIST=gpu02 drawbridge-run --image x -- true",
            "this is none of the job's nodes: call it on gpu02",
        ),
    ],
)
def test_a_newcomers_mistakes_are_told(host: str, command: str, says: str) -> None:
    said = ssh(host, f"cd {'/' if host == 'login1' else ADA}; runuser -u ada -- sh -c '{command}' 2>&1 || echo $?")
    assert says in said
    assert said.endswith("125")
