# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's jobs have their own CPUs, memory and devices, and nothing else; the kernel says so, not Slurm."""

from __future__ import annotations

import json

import pytest

from tests.isolation.node import NODE, PATIENCE_S, PROBE, RESERVED, ended, here, job, probed, slurm, srun
from tests.waiting import until

pytestmark = pytest.mark.live
BOTH = ["/dev/nvidia0", "/dev/nvidia1"]
GREEDY = "memory = bytearray(600 << 20); print('had it all')"
"""More than the job may have, and less than the node has."""


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_job_runs_on_its_own_cpus_and_cannot_leave_them(cpus: int) -> None:
    found = probed(f"--cpus-per-task={cpus} --mem=200M")
    assert len(found["given"]) == cpus
    assert found["cpus"] == found["given"] and not RESERVED & set(found["cpus"])


def test_two_jobs_share_no_cpu() -> None:
    with job("--mem=200M") as (_, one), job("--mem=200M") as (_, other):
        assert sorted([*one["cpus"], *other["cpus"]]) == [1, 2]


def test_no_job_gets_the_reserved_cpus() -> None:
    assert "Requested node configuration is not available" in srun("--cpus-per-task=3", "", check=False)


@pytest.mark.parametrize("event", ["restart slurmd", "daemon-reload", "set-property --runtime slurmd TasksMax=9999"])
def test_slurmd_keeps_to_the_reserved_cpus_and_memory(event: str) -> None:
    group = "/sys/fs/cgroup/system.slice/slurmd.service"
    here(f"systemctl {event}")
    until(lambda: slurm(f"sinfo --noheader --nodes={NODE} --format=%T") == "idle", PATIENCE_S, "slurmd answers")
    assert here(f"cat {group}/cpuset.cpus.effective {group}/memory.max").split() == ["0", str(1024 << 20)]


def test_a_job_that_takes_more_memory_than_its_own_is_killed_alone() -> None:
    with job("--mem=300M") as (number, found):
        assert (found["memory_mib"], found["swap"]) == (300, 0)
        said = srun("--mem=300M", GREEDY, check=False)
        assert "had it all" not in said
        assert "oom" in said.lower()
        assert here(f"scontrol listpids {number}")
    greedy = slurm("sbatch --parsable --partition=hpc --mem=300M --output=/dev/null", script(GREEDY))
    assert ended(greedy) == "OUT_OF_MEMORY"


def test_a_job_without_gpus_opens_none() -> None:
    assert here("head -c0 /dev/nvidia0 && echo opens") == "opens"
    found = probed("--mem=200M")
    assert (found["gpus"], found["visible"]) == ([], "")


def test_a_job_opens_its_own_gpus_alone() -> None:
    with job("--mem=200M --gres=gpu:h100:1") as (_, one), job("--mem=200M --gres=gpu:h100:1") as (_, other):
        assert sorted([*one["gpus"], *other["gpus"]]) == BOTH
        assert len(one["gpus"]) == 1
    assert probed("--mem=200M --gres=gpu:h100:2")["gpus"] == BOTH


def test_processes_that_leave_their_session_end_with_the_job() -> None:
    with job("--mem=200M", more="setsid --fork sleep 98765 </dev/null; exec sleep infinity"):
        until(lambda: here("pgrep --exact --full 'sleep 98765'"), PATIENCE_S, "it runs")
    until(lambda: not here("pgrep --exact --full 'sleep 98765' || true"), PATIENCE_S, "it ended with its job")
    until(lambda: slurm(f"sinfo --noheader --nodes={NODE} --format=%T") == "idle", PATIENCE_S, "the node is idle")


@pytest.mark.parametrize("event", ["restart slurmd.service", "daemon-reload"])
def test_a_running_job_and_its_limits_survive(event: str) -> None:
    with job("--mem=300M --gres=gpu:h100:1") as (number, before):
        here(f"systemctl {event}")
        until(lambda: slurm(f"sinfo --noheader --nodes={NODE} --format=%T") == "mixed", PATIENCE_S, "slurmd answers")
        after = json.loads(slurm(f"srun --quiet --jobid={number} --overlap --gres=gpu:h100:1 python3 -", PROBE))
        assert after == before


def script(program: str) -> str:
    return f"#!/usr/bin/env python3\n{program}\n"
