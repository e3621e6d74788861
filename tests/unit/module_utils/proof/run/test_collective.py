# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure, Missing
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.collective import (
    NAME,
    command,
    found_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites

from tests.unit.module_utils.proof.transcripts import printed

NODE = ProofNode(
    *("", "h100", tuple(ProofRail(f"rail{it}", f"mlx5_{it}", 400) for it in range(12))),
    tclass=106,
    gpus=8,
    tools={"nccl_tests": "/opt/nccl-tests/"},
)
TEST = sites.Test(sites.COLLECTIVE, ("a", "b"), (1, 10))


def test_one_task_runs_over_the_rails_of_the_test_in_the_lossless_class() -> None:
    words = command(NODE, TEST)
    variables = dict(it.split("=", 1) for it in words[1:] if "=" in it)
    assert words[0] == "/usr/bin/env"
    assert {key: it for key, it in variables.items() if key != "PATH"} == {
        "NCCL_IB_HCA": "=mlx5_1,mlx5_10",
        "NCCL_IB_TC": "106",
        "NCCL_ALGO": "Ring",
    }
    program = " ".join(words[1 + len(variables) :])
    assert program == "/opt/nccl-tests/all_reduce_perf -b 4G -e 4G -g 1 -n 20 -w 5 -T 120"


def test_an_index_of_the_intent_is_given_and_many_nodes_choose_their_algorithm() -> None:
    words = command(replace(NODE, gid_index=3), replace(TEST, nodes=tuple("abcd")))
    assert "NCCL_IB_GID_INDEX=3" in words
    assert not [it for it in words if it.startswith("NCCL_ALGO")]


def test_the_groups_bus_bandwidth_is_found_by_its_nodes() -> None:
    (found, *_) = found_of(TEST, printed("all_reduce"), "", 0)
    assert isinstance(found, Measure) and (found.name, found.where, found.unit) == (NAME, "a,b", "GB/s")
    (lost, *_) = found_of(TEST, "", "srun: error", 1)
    assert isinstance(lost, Missing) and (lost.name, lost.where) == (NAME, "a,b")
