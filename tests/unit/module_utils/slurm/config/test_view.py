# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import view

from tests.unit.module_utils.lab import NODES


@pytest.mark.parametrize(("numa_nodes", "numa", "cores"), [(2, 1, "32-63"), (4, 3, "48-63"), (1, 0, "0-63")])
def test_cores_are_abstract(numa_nodes: int, numa: int, cores: str) -> None:
    assert view.cores_of(replace(NODES.classes["h100"], numa_nodes=numa_nodes), numa) == cores
