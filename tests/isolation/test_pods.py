# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Pods of a job have what is not reserved; kubelet and slurmd restart without harm to what the other one runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.isolation.node import LAB, NODE, PATIENCE_S, PROBE, Facts, end, here, slurm
from tests.stack import ALLREDUCE, COMMAND
from tests.waiting import until

pytestmark = pytest.mark.live
WAITS = f'["python3", "-c", {json.dumps(PROBE + "import time; time.sleep(86400)")}]'
OPTIONS = "--partition=train --nodes=1 --gres=gpu:h100:2 --time=60 --output=/tmp/%j"
KUBELET_ANSWERS = "curl --silent --fail http://127.0.0.1:10248/healthz"


def pods(job: str) -> list[dict[str, Any]]:
    found = LAB.kubectl("get", "pods", "-n", "vision", "-l", f"drawbridge.io/slurm-job={job}", "-o", "json")
    return json.loads(found)["items"]


def log(job: str) -> str:
    return LAB.kubectl("logs", "-n", "vision", "-l", f"drawbridge.io/slurm-job={job}")


@pytest.fixture(scope="module")
def held() -> Iterator[tuple[str, Facts]]:
    """A job that holds the node with a pod: its number, and what the pod may use."""
    assert COMMAND in ALLREDUCE
    job = slurm(f"sbatch --parsable {OPTIONS}", ALLREDUCE.replace(COMMAND, WAITS))
    try:
        yield job, json.loads(until(lambda: log(job), PATIENCE_S, "the pod runs"))
    finally:
        end(job)


def test_a_pod_has_what_is_not_reserved(held: tuple[str, Facts]) -> None:
    _, found = held
    assert found["given"] == found["cpus"] == [1, 2]
    assert found["memory_mib"] == 3900 - 1024
    assert found["gpus"] == ["/dev/nvidia0", "/dev/nvidia1"]
    assert found["user"] == 2001


def test_the_kubelet_reserves_what_slurm_reserves(held: tuple[str, Facts]) -> None:
    node = json.loads(LAB.kubectl("get", "node", NODE, "-o", "json"))["status"]["allocatable"]
    assert node["cpu"] == "2"


@pytest.mark.parametrize("daemon", ["kubelet", "slurmd", "containerd"])
def test_what_runs_survives_a_restart(held: tuple[str, Facts], daemon: str) -> None:
    job, found = held
    before = processes(job)
    assert before["step"] and before["pod"]
    here(f"systemctl restart {daemon}")
    until(lambda: here(KUBELET_ANSWERS) == "ok", PATIENCE_S, "the kubelet answers")
    until(lambda: slurm(f"sinfo --noheader --nodes={NODE} --format=%T") == "allocated", PATIENCE_S, "slurmd answers")
    assert processes(job) == before
    assert [pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods(job)] == [0]
    again = slurm(f"srun --quiet --jobid={job} --overlap python3 -", PROBE)
    assert json.loads(again)["cpus"] == found["cpus"]


def processes(job: str) -> dict[str, str]:
    """Process ids of the job's batch script, and of its pod's program."""
    step = f"find /sys/fs/cgroup/system.slice -path '*/job_{job}/step_batch/*' -name cgroup.procs"
    return {"step": here(f"cat $({step})"), "pod": here("pgrep --full 'time.sleep.86400'")}
