# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run.allocation import Allocation
from tests.unit.roles.drawbridge_run.job import ENV, site


@pytest.mark.parametrize(
    ("slurm", "says"),
    [
        ({"SLURM_JOB_ID": ""}, "this is no Slurm job: put the line into a batch script .* --partition=ai-train"),
        ({"SLURM_JOB_PARTITION": "hpc"}, "partition hpc get no nodes in Kubernetes; submit to one of these: ai-train"),
        ({"SLURM_HET_SIZE": "2"}, "heterogeneous"),
        ({"SLURM_STEP_NUM_TASKS": "16"}, "leave srun away"),
        ({"SLURM_JOB_CPUS_PER_NODE": "128,64"}, "different builds .* --constraint"),
        ({"SLURM_NTASKS": "7"}, "7 tasks can't be shared evenly by 2 nodes"),
    ],
)
def test_what_can_have_no_pods_is_refused(slurm: dict[str, str], says: str) -> None:
    with pytest.raises(Refused, match=says):
        Allocation.of({**ENV, **slurm}, site())


def test_names_carry_job_and_run() -> None:
    assert Allocation.of(ENV, site()).prefix == "slurm-4711-r0-"
    assert Allocation.of({**ENV, "SLURM_RESTART_COUNT": "3"}, site()).prefix == "slurm-4711-r3-"


@pytest.mark.parametrize(("asked", "each"), [({}, 0), ({"SLURM_NTASKS": "2"}, 0), ({"SLURM_NTASKS": "16"}, 8)])
def test_tasks_are_what_was_asked_for(asked: dict[str, str], each: int) -> None:
    """One task a node is what launchers such as torchrun are started with: it says nothing of processes."""
    assert Allocation.of({**ENV, **asked}, site()).tasks_per_node == each


def test_pods_are_told_of_their_job_and_of_nothing_else() -> None:
    found = Allocation.of({**ENV, "SLURM_ARRAY_TASK_ID": "5", "SLURM_NTASKS": "2", "SECRET": "x"}, site())
    job = {"SLURM_JOB_ID": "4711", "SLURM_JOB_NAME": "train", "SLURM_RESTART_COUNT": "0"}
    assert found.variables == {**job, "SLURM_ARRAY_TASK_ID": "5"}
