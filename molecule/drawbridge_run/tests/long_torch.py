# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's all-reduce of two nodes, by the example of torchrun: ranks and rendezvous come from PET_* variables.

On demand, in the lab that the scenario built: `LAB_ID=59 pytest molecule/drawbridge_run/tests/long_torch.py`. The image
with Debian's PyTorch is built once, in minutes. Ranks use Gloo on CPUs.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator

import pytest

from lab import demo
from lab.hosts.paths import REPOSITORY
from lab.kubernetes import torch_image
from tests.stack import PATHS, ssh, until

from .conftest import ADA, NODES, alone_on, closed, code, ended, nothing_left, output, submit

PROGRAM = "torch_all_reduce.py"
EXAMPLE = (REPOSITORY / "examples/torchrun.sbatch").read_text()
THEIRS, TRAIN = "nvcr.io/nvidia/pytorch:26.07-py3", "torchrun train.py"
SMALL = "--env ALL_REDUCE_MIB=8 --env ALL_REDUCE_ROUNDS=5"
LOAD_S, JOB_S = 1800, 1500
FAILS = """
import os, time
import torch.distributed as dist
dist.init_process_group("gloo")
dist.barrier()
print("rank", dist.get_rank(), "begun", flush=True)
if dist.get_rank() == 0:
    time.sleep(3600)
os._exit(7)
"""
"""Rank 0 waits, so that the other one fails first."""


@pytest.fixture(scope="module", autouse=True)
def image() -> Iterator[None]:
    """Both nodes have the image, and no other test uses them."""
    archive = torch_image.ensure(PATHS.cache, print)
    with alone_on(*NODES):
        until(closed, 180, "both nodes closed and in service")
        for node in NODES:
            argv = demo.ssh(PATHS, node, "ctr --namespace k8s.io images import --local --snapshotter native -")
            with archive.open("rb") as file:
                subprocess.run(argv, stdin=file, check=True, capture_output=True, timeout=LOAD_S)
        yield


def ran(command: str, options: str = "") -> str:
    """The number of a job of the example with this command, when it has ended."""
    assert THEIRS in EXAMPLE and TRAIN in EXAMPLE
    call = f"{torch_image.NAME} --pull never --all-logs {SMALL}"
    job = submit(f"--time=30 {options}", EXAMPLE.replace(THEIRS, call).replace(TRAIN, command))
    until(lambda: ended(job), JOB_S, "the job ends")
    return job


def place(name: str, text: str) -> None:
    ssh("gpu01", f"cat > {ADA}/{name}; chown ada:vision {ADA}/{name}", text)


@pytest.mark.parametrize(
    ("command", "options", "each"),
    [("torchrun --nproc-per-node 1", "", 1), ("torchrun", "--ntasks-per-node=2", 2)],
    ids=["one process a node", "two tasks a node"],
)
def test_ranks_of_two_nodes_add_up_their_numbers(command: str, options: str, each: int) -> None:
    place(PROGRAM, (REPOSITORY / "examples" / PROGRAM).read_text())
    job = ran(f"{command} {PROGRAM}", options)
    said = output(job)
    assert code(job) == "COMPLETED|0:0", said
    ranks = len(NODES) * each
    total = ranks * (ranks + 1) / 2
    for rank in range(ranks):
        pod = rank // each
        line = f"[rank {pod}] rank {rank} of {ranks} on {NODES[pod]} (gloo): sum {total}, expected {total}"
        assert said.splitlines().count(line) == 2, said
    last = [line for line in said.splitlines() if line.startswith("[rank 0] ")][-1]
    assert re.fullmatch(r"\[rank 0\] \d+\.\d{3}", last) and float(last.split()[-1]) > 0, said
    nothing_left(job)


@pytest.fixture
def loopback_names() -> Iterator[None]:
    """Each node's own name is 127.0.1.1, as Debian's installer has it, and the site names NCCL's network device."""
    device = ssh("gpu01", "ip -json route get $(getent ahostsv4 ctl | awk '{print $1; exit}')")
    settings = f"NCCL_SOCKET_IFNAME=={json.loads(device)[0]['dev']}"
    for node in NODES:
        ssh(node, f"cp -p /etc/hosts /etc/hosts.kept; sed -i 's/^10[0-9.]* {node}$/127.0.1.1 {node}/' /etc/hosts")
        ssh(node, f"grep -qx '127.0.1.1 {node}' /etc/hosts; echo {settings} > /etc/nccl.conf")
    yield
    for node in NODES:
        ssh(node, "mv /etc/hosts.kept /etc/hosts; rm /etc/nccl.conf")


def test_ranks_find_each_other_where_each_name_is_loopback(loopback_names: None) -> None:
    place(PROGRAM, (REPOSITORY / "examples" / PROGRAM).read_text())
    job = ran(f"torchrun --nproc-per-node 1 {PROGRAM}", "--time=12")
    assert code(job) == "COMPLETED|0:0", output(job)
    assert "[rank 1] rank 1 of 2 on gpu02 (gloo): sum 3.0, expected 3.0" in output(job)
    nothing_left(job)


def test_a_rank_that_fails_ends_the_job_with_the_code_of_torchrun() -> None:
    """torchrun ends with 1 whatever a rank's code is, and prints that one."""
    place("fails.py", FAILS)
    job = ran("torchrun --nproc-per-node 1 fails.py")
    said = output(job)
    assert code(job) == "FAILED|1:0", said
    assert "drawbridge-run: rank 1 on gpu02 ended with exit code 1" in said
    assert re.search(r"\[rank 1\] +exitcode +: 7 ", said), said
    assert "[rank 0] rank 0 begun" in said
    nothing_left(job)
