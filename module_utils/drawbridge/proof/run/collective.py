# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A collective over several nodes: the command of nccl-tests for srun, and the bus bandwidth that it printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from .. import collectives
from ..measure import Found
from ..node import ProofNode
from ..schedule.site import Test
from ..tools.nccl_text import measures

SIZE = "4G"
"""At 1 GiB a healthy group reaches 95 % of its rate, and at 128 MiB half of it."""
ITERATIONS, WARM_UP, LIMIT_S = 20, 5, 120
NAME = "bus bandwidth"


def command(node: ProofNode, test: Test) -> list[str]:
    """The program with one GPU in each task. env sets its variables: srun divides values at commas."""
    program = str(PurePosixPath(node.tools["nccl_tests"]) / "all_reduce_perf")
    size = ["-b", SIZE, "-e", SIZE, "-g", "1", "-n", str(ITERATIONS), "-w", str(WARM_UP), "-T", str(LIMIT_S)]
    rails = [node.rails[rail] for rail in test.rails]
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        # = takes exact names: mlx5_1 alone would stand for mlx5_10, too
        "NCCL_IB_HCA": "=" + ",".join(rail.rdma for rail in rails),
        "NCCL_IB_TC": str(node.tclass),
    }
    if algorithm := collectives.algorithm_for(len(test.nodes)):
        environment["NCCL_ALGO"] = algorithm
    if node.gid_index >= 0:
        environment["NCCL_IB_GID_INDEX"] = str(node.gid_index)
    return ["/usr/bin/env", *(f"{name}={value}" for name, value in environment.items()), program, *size]


def found_of(test: Test, stdout: str, stderr: str, code: int) -> Sequence[Found]:
    """The bus bandwidth of the group."""
    return measures(stdout, stderr, code, ",".join(test.nodes), NAME)
