# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import view

from tests.unit.module_utils.machines import ALL, DESCRIBED, intent


@pytest.mark.parametrize("name", DESCRIBED)
def test_gpus_are_near_the_cores_of_their_socket(name: str) -> None:
    """Files in the order of GPUs; no cores where a NUMA node is more than one socket."""
    machine, site = ALL[name], intent(ALL[name])
    lines = [line for line in view.gres_conf(site.nodes, site.slurm).splitlines() if line.startswith("NodeName=")]
    found = [dict(word.split("=") for word in line.split()) for line in lines]
    assert [(line["File"], line.get("Cores", "")) for line in found] == list(machine.gres)
