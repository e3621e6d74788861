# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The pretended machine as a value."""

import pytest

from lab.errors import LabError
from lab.machine.hardware import Hardware, cpu_list

RAW = {"sockets": 2, "cores_per_socket": 32, "threads_per_core": 2, "memory_kb": 2113929216, "numa_nodes": 2}


def test_threads_of_a_core_are_neighbours():
    hardware = Hardware.of(RAW)
    assert hardware.cpus == 128
    assert hardware.cpus_of(1) == range(64, 128)
    assert hardware.siblings_of(65) == range(64, 66)


def test_hwloc_notation():
    assert Hardware.of(RAW).hwloc == "pack:2 [numa] core:32 pu:2"


def test_one_cpu_is_no_range():
    assert [cpu_list(range(3, 4)), cpu_list(range(0, 64))] == ["3", "0-63"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"numa_nodes": 1}, "hardware.numa_nodes is 1, but each of the 2 sockets is given one NUMA node: set it to 2"),
        ({"gpu_numa": [0, 2]}, "hardware.gpu_numa names NUMA node 2, but numa_nodes is 2: use 0 to 1"),
        ({"rail_numa": [5]}, "hardware.rail_numa names NUMA node 5, but numa_nodes is 2: use 0 to 1"),
    ],
)
def test_an_impossible_machine_is_refused(change, said):
    with pytest.raises(LabError) as refusal:
        Hardware.of(RAW | change)
    assert str(refusal.value) == said
