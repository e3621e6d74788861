# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.cpu_order import in_order
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


@given(cores=st.integers(1, 64), threads=st.integers(1, 8), data=st.data())
def test_every_cpu_is_a_thread_of_one_core_in_any_order(cores: int, threads: int, data: st.DataObject) -> None:
    order = in_order(data.draw(st.permutations(range(cores * threads))))
    numbering = data.draw(st.sampled_from(["apart", "together", order]))
    machine = Machine(cores * threads, threads, numbering, 1, 1024, ())
    cpu = data.draw(st.integers(0, machine.cpus - 1))
    own = machine.threads_of(machine.core_of(cpu))
    assert cpu in own
    assert len(own) == threads
    assert machine.missing_threads(own) == []


def test_the_kernel_numbers_numa_nodes_by_their_first_cpu() -> None:
    """Two sockets of two NUMA nodes with two cores, numbered in turn: socket 0 has NUMA nodes 0 and 2."""
    in_turn = Machine(8, 1, "0,4,2,6,1,5,3,7", 4, 1024, ())
    assert [in_turn.cores_of(numa) for numa in range(4)] == [range(2), range(4, 6), range(2, 4), range(6, 8)]
    with_memory_between = replace(in_turn, without_cpus="1")
    assert with_memory_between.cores_of(2) == range(4, 6)


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
        # nodes that have only memory, and nodes that have none
        ("restricted", replace(H100, without_cpus="2-3"), 16, "needs NUMA nodes 0, 1 for GPUs and all 4 for memory"),
        ("restricted", replace(H100, gpus=(), without_cpus="2-3"), 16, "NUMA nodes 0, 1 for CPUs and all 4 for memory"),
        ("restricted", replace(FOUR, without_memory="1,3"), 16, "NUMA nodes 0, 1, 2, 3 for GPUs and 0,2 for memory"),
        ("best-effort", replace(H100, without_cpus="2-7"), 16, ""),
        ("best-effort", replace(H100, without_cpus="2-8"), 16, "on at most 8 NUMA nodes, and there are 9"),
        # more than kubelets take
        ("best-effort", replace(H100, numa_nodes=16), 16, "on at most 8 NUMA nodes, and there are 16"),
        ("none", replace(H100, numa_nodes=16), 16, ""),
    ],
)
def test_policies_that_never_admit_a_whole_node(policy: str, machine: Machine, reserved: int, reason: str) -> None:
    told = never_admits(policy, machine, reserved)
    assert reason in told
    assert bool(told) == bool(reason)


@pytest.mark.parametrize(
    ("machine", "most"),
    [
        (H100, 8),
        (replace(H100, numa_nodes=9), 8),
        (replace(H100, numa_nodes=1, gpus=(), without_cpus="1-8"), 9),
        (replace(H100, numa_nodes=1, gpus=(), without_cpus="1-11"), 8),
    ],
)
def test_more_numa_nodes_need_no_more_combinations_than_eight_with_cpus(machine: Machine, most: int) -> None:
    assert machine.most_numa_nodes == most
