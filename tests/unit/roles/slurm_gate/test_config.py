# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from roles.slurm_gate.files.gate.config import Config, Job, NotGated, Refused

CONFIG = {
    "api_server": "https://api:6443",
    "ca_file": "/ca.crt",
    "partitions": ["ai-train"],
    "namespaces": {"vision": "team-vision"},
    "patience_s": 60,
    "empty_s": 90,
    "pod_grace_s": 10,
    "pod_limits": {},
}
ENVIRONMENT = {
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_PARTITION": "ai-train",
    "SLURM_JOB_ACCOUNT": "vision",
    "SLURM_JOB_UID": "2001",
    "SLURM_JOB_GID": "3001",
    "SLURM_JOB_NODELIST": "gpu[01-02]",
}


def job(**changes: str) -> Job:
    return Job.of({**ENVIRONMENT, **changes}, Config(**CONFIG))


def test_a_job_as_slurm_describes_it() -> None:
    it = job()
    assert (it.owner.held, it.account) == ("team-vision.4711", "slurm-4711-u2001-g3001")
    assert it.nodes == ("gpu01", "gpu02")


def test_jobs_of_other_partitions_are_none_of_ours() -> None:
    with pytest.raises(NotGated):
        job(SLURM_JOB_PARTITION="hpc")


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"SLURM_JOB_ACCOUNT": "rich"}, "'rich' has no Kubernetes namespace; submit with one of: vision"),
        ({"SLURM_HET_JOB_ID": "4710"}, "heterogeneous"),
    ],
)
def test_what_can_not_be_served_is_refused_with_the_way_out(changes: dict[str, str], cause: str) -> None:
    with pytest.raises(Refused, match=cause):
        job(**changes)


def test_the_file_may_hold_more_than_this_program_knows(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**CONFIG, "newer": True}))
    assert Config.read(file) == Config(**CONFIG)
