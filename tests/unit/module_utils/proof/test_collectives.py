# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Bus bandwidth of nodes and of groups, against published points. Examples of its lines are in test_limits."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALLTOALL,
    CHOSEN,
    HIERARCHICAL,
    REDUCE_SCATTER,
    RING,
    Group,
    algorithm_for,
    bus_bandwidth,
    ceiling,
    most_bus_bandwidth,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.limits import Limit, NoLimit, judge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure

A100, H100, H200, B200 = "NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA B200"
GB200, MI300X = "NVIDIA GB200", "AMD Instinct MI300X"


@pytest.mark.parametrize(("nodes", "tree"), [(2, 750), (3, 575), (4, 517), (8, 450), (64, 406)])
def test_ceilings_of_eight_rails_at_400g(nodes: int, tree: float) -> None:
    group = Group(nodes, 8, 8, 400, H100)
    for collective in (ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER):
        assert round(ceiling(collective, group, HIERARCHICAL)) == round(ceiling(collective, group, CHOSEN)) == tree
        assert ceiling(collective, group, RING) == 400


@pytest.mark.parametrize(("nodes", "most"), [(2, 93.8), (4, 64.6), (64, 50.7)])
def test_ceilings_of_alltoall(nodes: int, most: float) -> None:
    assert ceiling(ALLTOALL, Group(nodes, 8, 8, 400), CHOSEN) == pytest.approx(most, abs=0.05)


def test_with_one_gpu_a_node_a_tree_is_no_faster_than_a_ring() -> None:
    assert (
        ceiling(ALL_REDUCE, Group(2, 1, 1, 400), HIERARCHICAL) == ceiling(ALL_REDUCE, Group(2, 1, 1, 400), RING) == 50
    )


@pytest.mark.parametrize(
    ("collective", "group", "algorithm", "healthy", "broken"),
    [
        (ALL_REDUCE, Group(1, 8, 8, 200, A100), CHOSEN, (234.9,), (185,)),
        # 367.6 is a healthy H200 without NVLS
        (ALL_REDUCE, Group(1, 8, 8, 400, H200), CHOSEN, (482, 460, 431), (367.6,)),
        (ALL_REDUCE, Group(1, 4, 4, 400, H200), CHOSEN, (367.6,), (300,)),
        (ALL_REDUCE, Group(1, 8, 8, 400, B200), CHOSEN, (845.7, 838.97), (687,)),
        (ALL_REDUCE, Group(1, 8, 8, 400, MI300X), CHOSEN, (312.9,), (240,)),
        (ALL_REDUCE, Group(1, 2, 2, 400, MI300X), CHOSEN, (47.7,), (24,)),
        # a collective follows its slowest rail: 280 is one rail at 70 %
        (ALL_REDUCE, Group(4, 8, 8, 400, H200), CHOSEN, (364.9, 370), (280,)),
        (ALL_REDUCE, Group(4, 8, 8, 400, B200), CHOSEN, (381.8, 376.7), (330,)),
        (ALL_REDUCE, Group(4, 4, 4, 400, GB200), CHOSEN, (191.4,), (140,)),
        (ALL_GATHER, Group(4, 4, 4, 400, GB200), CHOSEN, (191.3,), (140,)),
        (ALLTOALL, Group(4, 4, 4, 400, GB200), CHOSEN, (58.2,), (45,)),
        (ALL_REDUCE, Group(2, 8, 8, 400, H100), RING, (364.9,), (280,)),
        (ALL_GATHER, Group(2, 8, 8, 400, H100), RING, (338.6,), (280,)),
        (REDUCE_SCATTER, Group(2, 8, 8, 400, H100), RING, (338.6,), (280,)),
        (ALLTOALL, Group(2, 8, 8, 400, H100), CHOSEN, (79.1,), (65.6,)),
        (ALL_REDUCE, Group(2, 1, 1, 400, H100), CHOSEN, (48,), (43.5,)),
        (ALL_REDUCE, Group(16, 1, 1, 400, "NVIDIA L40S"), CHOSEN, (48,), (43.5,)),
        (ALL_REDUCE, Group(8, 8, 8, 800, "NVIDIA B300"), CHOSEN, (700,), (640,)),
        (ALL_REDUCE, Group(8, 8, 8, 800, H100), CHOSEN, (390,), (380,)),
        (ALL_REDUCE, Group(8, 8, 8, 400), CHOSEN, (345,), (335,)),
    ],
)
def test_published_points(
    collective: str, group: Group, algorithm: str, healthy: tuple[float, ...], broken: tuple[float, ...]
) -> None:
    limit = bus_bandwidth(collective, group, algorithm)
    assert isinstance(limit, Limit)
    assert [it for it in healthy if judge(Measure("bus bandwidth", it, "GB/s", "gpu01"), limit)] == []
    assert [it for it in broken if not judge(Measure("bus bandwidth", it, "GB/s", "gpu01"), limit)] == []
    if group.nodes > 1 and group.product != GB200:
        most = most_bus_bandwidth(collective, group, algorithm)
        assert isinstance(most, Limit)
        assert [it for it in healthy if judge(Measure("bus bandwidth", it, "GB/s", "gpu01"), most)] == []


@pytest.mark.parametrize(
    ("collective", "group", "algorithm", "why"),
    [
        (ALL_REDUCE, Group(2, 8, 8, 400, H100), CHOSEN, "2 nodes do not show the fabric"),
        (ALL_GATHER, Group(3, 8, 8, 400, H100), CHOSEN, "3 nodes do not show the fabric"),
        (ALL_REDUCE, Group(64, 8, 8, 400, H100), HIERARCHICAL, "Tree or NVLSTree"),
        (ALL_REDUCE, Group(8, 8, 2, 200, "NVIDIA L40S"), RING, "L40S has no links"),
        (ALL_REDUCE, Group(1, 8, 2, 200, "NVIDIA H100 NVL"), CHOSEN, "H100 NVL has no links"),
        (ALL_REDUCE, Group(1, 8, 8, 400, "h100"), CHOSEN, "h100 is not in the table"),
        (ALL_REDUCE, Group(1, 8, 8, 400), CHOSEN, "this GPU is not in the table"),
        (ALL_REDUCE, Group(1, 1, 1, 400, H100), CHOSEN, "no partner"),
        (ALLTOALL, Group(1, 8, 8, 400, H100), CHOSEN, "no alltoall in one node"),
    ],
)
def test_no_limit_says_why(collective: str, group: Group, algorithm: str, why: str) -> None:
    limit = bus_bandwidth(collective, group, algorithm)
    assert isinstance(limit, NoLimit)
    assert why in limit.why


def test_two_nodes_may_exceed_their_nics_but_not_their_ceiling() -> None:
    group, measure = Group(2, 8, 8, 400, H100), Measure("bus bandwidth", 487.9, "GB/s", "gpu[01-02]")
    assert not judge(measure, most_bus_bandwidth(ALL_REDUCE, group))
    assert judge(measure, most_bus_bandwidth(ALL_REDUCE, group, RING))
    # the same number over NICs of half the speed shows that the intent is wrong, or that the data took another way
    assert judge(measure, most_bus_bandwidth(ALL_REDUCE, Group(2, 8, 8, 200, H100)))
    assert isinstance(most_bus_bandwidth(ALL_REDUCE, Group(4, 4, 4, 400, GB200)), NoLimit)


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 128])
def test_every_group_of_known_gpus_has_a_limit_with_the_algorithm_that_it_is_run_with(nodes: int) -> None:
    assert algorithm_for(nodes) == (RING if nodes in (2, 3) else CHOSEN)
    assert isinstance(bus_bandwidth(ALL_REDUCE, Group(nodes, 8, 8, 400, H100), algorithm_for(nodes)), Limit)


@pytest.mark.parametrize(("collective", "nodes"), [("broadcast", 4), ("broadcast", 1)])
def test_an_unknown_collective_is_refused(collective: str, nodes: int) -> None:
    with pytest.raises(ValueError, match="broadcast"):
        bus_bandwidth(collective, Group(nodes, 8, 8, 400, H100))


def test_one_node_has_no_ceiling_by_its_nics() -> None:
    with pytest.raises(ValueError, match="1 nodes"):
        most_bus_bandwidth(ALL_REDUCE, Group(1, 8, 8, 400, H100))
