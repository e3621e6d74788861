# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two nodes: of one workload, and of two users of one account, who may do nothing to each other's pods."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pexpect
import pytest

from tests.stack import ssh, until

from .conftest import (
    ADA,
    IMAGE,
    NODES,
    add_up,
    alone_on,
    ask,
    closed,
    code,
    ended,
    nothing_left,
    output,
    pods,
    run,
    running,
    submit,
    terminal,
)

SLEEP = f"drawbridge-run --image {IMAGE} --pull never --grace 1 -- sh -c 'echo begun; exec sleep 3600'"
JOBS, PODS = "/apis/batch/v1/namespaces/vision/jobs", "/api/v1/namespaces/vision/pods"
ACCOUNTS = "/api/v1/namespaces/vision/serviceaccounts"


@pytest.fixture(scope="module")
def free_nodes() -> Iterator[None]:
    with alone_on(*NODES):
        until(closed, 180, "both nodes closed and in service")
        yield


def test_two_nodes_add_up_their_numbers_as_the_submitting_user(free_nodes: None) -> None:
    nothing_left(add_up())


def test_the_rank_that_failed_is_named_with_its_last_words(free_nodes: None) -> None:
    job = submit("-N2", run("[ $NODE_RANK = 0 ] && exec sleep 60; echo boom; exit 3", "--grace 1"))
    until(lambda: ended(job), 180, "the job ends")
    assert "[rank 1] boom\ndrawbridge-run: rank 1 on gpu02 ended with exit code 3" in output(job)
    assert code(job) == "FAILED|3:0"
    nothing_left(job)


def test_an_api_server_that_goes_away_for_a_while_ends_nothing(free_nodes: None) -> None:
    go = f"{ADA}/go"
    ssh("gpu01", f"rm -f {go}")
    job = submit("-N2", run(f"echo begun; until [ -e {go} ]; do sleep 0.2; done; echo through", "--all-logs"))
    until(lambda: running(job) == 2, 180, "both pods run")
    ssh("ctl", "systemctl stop kube-apiserver; sleep 6; systemctl start kube-apiserver")
    ssh("gpu01", f"touch {go}")
    until(lambda: ended(job), 180, "the job ends")
    assert code(job) == "COMPLETED|0:0"
    said = output(job)
    assert sorted(line for line in said.splitlines() if line.startswith("[")) == [
        f"[rank {rank}] {word}" for rank in (0, 1) for word in ("begun", "through")
    ], said
    nothing_left(job)


@pytest.fixture(scope="module")
def neighbours(free_nodes: None) -> Iterator[tuple[str, str]]:
    """A job of ada's on gpu01 and one of ben's on gpu02, of the same account."""
    found = submit("-N1 -w gpu01 --time=60", SLEEP), submit("-N1 -w gpu02 --time=60", SLEEP, "ben")
    until(lambda: all(map(begun, found, ("ada", "ben"))), 180, "both pods run, and their logs come")
    yield found
    ssh("ctl", f"scancel {' '.join(found)}")
    until(closed, 180, "both nodes closed")


def begun(job: str, user: str) -> bool:
    return "begun" in output(job, user)


def named(job: str) -> str:
    return pods(job)[0]["metadata"]["name"]


def test_a_job_can_read_its_neighbours_pods_and_logs(neighbours: tuple[str, str]) -> None:
    """Documented (docs/guides/first-job.md), with the way out: one namespace a project."""
    ada, ben = neighbours
    assert ask("gpu02", "ben", ben, "GET", f"{PODS}/{named(ada)}")[0] == 200
    assert ask("gpu02", "ben", ben, "GET", f"{PODS}/{named(ada)}/log") == (200, "begun")


def test_neighbours_cannot_read_each_others_tokens_or_files(neighbours: tuple[str, str]) -> None:
    ada, _ = neighbours
    env = f"SLURM_JOB_ID={ada} SLURM_JOB_PARTITION=ai-train SLURM_JOB_NODELIST=gpu01"
    said = ssh("gpu01", f"cd /gpfs/fs1; {env} runuser -u ben -- drawbridge-run --image x -- true 2>&1 || true")
    assert f"job {ada} and its pods run as uid 2001" in said
    for file in (f"/run/drawbridge/jobs/{ada}/token", f"{ADA}/{ada}.out"):
        assert "Permission denied" in ssh("gpu01", f"runuser -u ben -- cat {file} 2>&1 || true")


def test_a_shell_is_one_in_a_pod_of_ones_own_job(neighbours: tuple[str, str]) -> None:
    env = f"SLURM_JOB_ID={neighbours[0]} SLURM_JOB_PARTITION=ai-train SLURM_JOB_NODELIST=gpu01"
    show = "echo rank $NODE_RANK of $NNODES uid $(id -u) on $(hostname) in $PWD; exit 5"
    enter = f"{env} runuser -u ada -- drawbridge-run --shell -- sh -c {shlex.quote(show)}"
    said = ssh("gpu01", f"cd {ADA}; {enter} </dev/null; echo $?")
    assert said.splitlines() == [f"rank 0 of 1 uid 2001 on gpu01 in {ADA}", "5"]
    piped = f"{env} runuser -u ada -- drawbridge-run --shell -- sh -c 'cat; echo end'"
    assert ssh("gpu01", f"cd {ADA}; echo in | {piped}").splitlines() == ["in", "end"]


def test_at_a_terminal_a_shell_is_as_everywhere(neighbours: tuple[str, str]) -> None:
    env = f"SLURM_JOB_ID={neighbours[0]} SLURM_JOB_PARTITION=ai-train SLURM_JOB_NODELIST=gpu01"
    enter = f"{env} runuser -u ada -- drawbridge-run --shell; echo code $?; stty -a | grep -o -- '[-]*icanon'"
    with terminal("gpu01", f"cd {ADA}; {enter}", size=(31, 97)) as shell:
        shell.sendline("tty; stty size")
        shell.expect(r"/dev/pts/\d+\s+31 97")
        shell.setwinsize(40, 120)
        shell.sendline("until [ \"$(stty size)\" = '40 120' ]; do sleep 0.1; done; echo res''ized")
        shell.expect("resized")
        # one process says that it runs and sleeps: what a shell has forked, but not yet started, can miss the signal
        shell.sendline("sh -c 'echo slee\"\"ping; exec sleep 3600'")
        shell.expect("sleeping")
        shell.sendcontrol("c")
        shell.sendline("echo inter''rupted; exit 5")
        shell.expect("interrupted")
        shell.expect("code 5\\s+icanon")
        shell.expect(pexpect.EOF)


def test_the_doctor_sees_pods_on_their_nodes_and_says_so_elsewhere(neighbours: tuple[str, str]) -> None:
    ada, _ = neighbours
    assert "rank 0 on gpu01: run" in ssh("gpu01", f"runuser -u ada -- drawbridge-run doctor {ada}")
    assert "another user's job" in ssh("gpu01", f"runuser -u ben -- drawbridge-run doctor {ada}")
    assert f"srun --jobid={ada}" in ssh("login1", f"runuser -u ada -- drawbridge-run doctor {ada}")
