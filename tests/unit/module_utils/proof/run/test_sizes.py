# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The program with many pretended nodes; `python -m bench.proof` prints more, and 10,000 nodes."""

from __future__ import annotations

import pytest

from .pretended import Slurm, proof, settings
from .test_faults import Forgotten


@pytest.mark.parametrize(
    ("nodes", "per_unit", "clean", "most"), [(8, 4, 9, 40), (128, 32, 24, 80), (1024, 32, 192, 300)]
)
def test_slow_cables_among_many_nodes_take_few_tests(nodes: int, per_unit: int, clean: int, most: int) -> None:
    names = [f"n{number:05}" for number in range(nodes)]
    site = settings(nodes, per_unit, incast=16)
    slurm = Slurm(names)
    result = proof(site, slurm, Forgotten(slurm)).run(names)
    assert result.passed and result.fabric.tests <= clean, result.fabric
    assert (result.fabric.ports_passed, result.fabric.leaf_pairs_passed) == (2 * nodes, result.fabric.leaf_pairs)
    slow = {(names[at * nodes // 5 + 1], at % 2) for at in range(5 if nodes > 8 else 1)}
    slurm = Slurm(names, cables=dict.fromkeys(slow, 0.6))
    result = proof(site, slurm, Forgotten(slurm)).run(names)
    assert {(it.nodes[0], it.rails[0]) for it in result.findings if it.kind == "cable"} == slow
    assert len(result.findings) == len(slow) and result.fabric.tests <= most, result.fabric
    assert result.fabric.ports_passed == 2 * nodes - len(slow)
