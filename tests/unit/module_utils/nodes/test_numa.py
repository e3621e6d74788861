# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.numa import Machine, never_admits
from hypothesis import given
from hypothesis import strategies as st

H100 = Machine(224, 2, "apart", 2, 2_050_000, (0, 0, 0, 0, 1, 1, 1, 1))
TOGETHER = replace(H100, numbering="together")
FOUR = replace(H100, numa_nodes=4, gpus=(0, 0, 1, 1, 2, 2, 3, 3))


def test_threads_of_a_core() -> None:
    assert (H100.threads_of(0), H100.threads_of(56)) == ([0, 112], [56, 168])
    assert (TOGETHER.threads_of(0), TOGETHER.threads_of(56)) == ([0, 1], [112, 113])


@pytest.mark.parametrize(
    ("machine", "cpus", "missing"),
    [
        (H100, [0, 1, 112, 113], []),
        (H100, [0, 1, 2, 3], [112, 113, 114, 115]),
        (TOGETHER, [0, 1, 2, 3], []),
        (TOGETHER, [1, 2, 3], [0]),
        (replace(H100, threads_per_core=1), [5], []),
    ],
)
def test_halves_of_cores(machine: Machine, cpus: list[int], missing: list[int]) -> None:
    assert machine.missing_threads(cpus) == missing


def test_slurm_numbers_core_by_core() -> None:
    assert H100.core_by_core([0, 1, 112, 113, 56, 168]) == [0, 1, 2, 3, 112, 113]
    assert TOGETHER.core_by_core([0, 1, 2, 3, 112, 113]) == [0, 1, 2, 3, 112, 113]
    assert replace(H100, threads_per_core=1).core_by_core([5, 200]) == [5, 200]


@given(
    cores=st.integers(1, 256),
    threads=st.integers(1, 8),
    numbering=st.sampled_from(["apart", "together"]),
    data=st.data(),
)
def test_every_cpu_is_a_thread_of_one_core(cores: int, threads: int, numbering: str, data: st.DataObject) -> None:
    machine = Machine(cores * threads, threads, numbering, 1, 1024, ())
    cpu = data.draw(st.integers(0, machine.cpus - 1))
    own = machine.threads_of(machine.core_of(cpu))
    assert cpu in own
    assert len(own) == threads
    assert machine.missing_threads(own) == []


@pytest.mark.parametrize(
    ("policy", "machine", "reserved", "reason"),
    [
        # two sockets, GPUs on both: the table of facts for whole-node pods
        ("none", H100, 16, ""),
        ("best-effort", H100, 16, ""),
        ("restricted", H100, 16, ""),
        ("single-numa-node", H100, 16, "needs all 2 NUMA nodes"),
        # half of the CPUs reserved: the rest fits on one node
        ("restricted", H100, 112, "the 112 CPUs of a pod with the whole node fit on 1 of 2"),
        ("best-effort", H100, 112, ""),
        # one socket
        ("single-numa-node", replace(H100, numa_nodes=1, gpus=(0, 0, 0, 0)), 16, ""),
        ("restricted", replace(H100, numa_nodes=1, gpus=(0, 0, 0, 0)), 112, ""),
        # four NUMA nodes
        ("restricted", FOUR, 16, ""),
        ("restricted", FOUR, 56, "fit on 3 of 4"),
        ("restricted", replace(FOUR, gpus=(0, 0, 0, 0, 2, 2, 2, 2)), 16, "needs NUMA nodes 0, 2 for GPUs"),
        ("best-effort", replace(FOUR, gpus=(0, 0, 0, 0, 2, 2, 2, 2)), 16, ""),
        # more than kubelets take
        ("best-effort", replace(H100, numa_nodes=16), 16, "on at most 8 NUMA nodes, and there are 16"),
        ("none", replace(H100, numa_nodes=16), 16, ""),
    ],
)
def test_policies_that_never_admit_a_whole_node(policy: str, machine: Machine, reserved: int, reason: str) -> None:
    told = never_admits(policy, machine, reserved)
    assert reason in told
    assert bool(told) == bool(reason)
