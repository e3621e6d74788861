# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import topology

from tests.unit.module_utils.lab import NODES, SLURM


def test_blocks_are_leaves_of_their_common_size() -> None:
    assert topology.topology_conf(NODES, replace(SLURM, topology="block")).splitlines()[1:] == [
        "BlockName=leaf1 Nodes=gpu[01-02]",
        "BlockName=leaf2 Nodes=gpu[03-04]",
        "BlockSizes=2",
    ]
