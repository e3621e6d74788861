# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from roles.slurm_gate.files.gate.config import Config, Job, Refused, require_whole_nodes
from tests.unit.roles.slurm_gate.cluster import CONFIG, ENVIRONMENT


def job(**changes: str) -> Job:
    return Job.of({**ENVIRONMENT, **changes}, Config(**CONFIG))


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


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({}, ""),
        ({"SLURM_JOB_EXCLUSIVE": "NODE", "SLURM_JOB_OVERSUBSCRIBE": "NO"}, ""),
        ({"SLURM_JOB_EXCLUSIVE": "NO", "SLURM_JOB_OVERSUBSCRIBE": "NO"}, "OverSubscribe=EXCLUSIVE"),
        ({"SLURM_JOB_OVERSUBSCRIBE": "OK"}, "OverSubscribe=EXCLUSIVE"),
        ({"SLURM_JOB_OVERSUBSCRIBE": ""}, "OverSubscribe=EXCLUSIVE"),
        ({"SLURM_JOB_NODELIST": "gpu[04-05]"}, "gpu05 is not in drawbridge_slurm's partition ai-train"),
    ],
    ids=["24.11", "26.05", "26.05 shared", "24.11 shared", "unknown", "another node"],
)
def test_whole_nodes_of_the_partition_are_required(changes: dict[str, str], cause: str) -> None:
    env = {**ENVIRONMENT, **changes}
    if not cause:
        return require_whole_nodes(env, job(**changes), Config(**CONFIG))
    with pytest.raises(Refused, match=cause):
        require_whole_nodes(env, job(**changes), Config(**CONFIG))


def test_the_file_may_hold_more_than_this_program_knows(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**CONFIG, "newer": True}))
    assert Config.read(file) == Config(**CONFIG)
