# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.maintenance.view import (
    Group,
    maintenance,
    waves,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.lab import NODES, SLURM

NAMES = [f"n{index}" for index in range(12)]


def group(names: frozenset[str], most: int) -> Group:
    return Group(f"{sorted(names)} {most}", tuple(sorted(names)), most)


GROUPS = st.lists(
    st.builds(group, st.frozensets(st.sampled_from(NAMES)), st.integers(1, 5)), max_size=4, unique_by=lambda it: it.name
)


@given(GROUPS, st.integers(0, 5), st.permutations(NAMES))
def test_each_node_has_one_wave_and_no_wave_exceeds_a_limit(found: list[Group], wave: int, names: list[str]) -> None:
    planned = waves(names, found, wave)
    assert Counter(name for taken in planned for name in taken) == Counter(names)
    for taken in planned:
        assert taken and len(taken) <= (wave or len(names))
        assert all(len(set(taken) & set(it.nodes)) <= it.most for it in found)


@given(GROUPS, st.permutations(NAMES))
def test_a_node_waits_only_for_a_wave_with_room(found: list[Group], names: list[str]) -> None:
    planned = waves(names, found, 0)
    for late, taken in enumerate(planned):
        for name in taken:
            mine = [it for it in found if name in it.nodes]
            full = [any(len(set(early) & set(it.nodes)) >= it.most for it in mine) for early in planned[:late]]
            assert all(full)


def test_partitions_and_units_of_the_nodes_are_limits() -> None:
    view = maintenance(NODES, SLURM, ["gpu01", "gpu02", "gpu03", "gpu04"], 0)
    assert view["waves"] == [["gpu01"], ["gpu02"], ["gpu03"], ["gpu04"]]
    assert view["groups"] == [
        {"name": "partition ai-train", "nodes": "gpu[01-04]", "most": 1},
        {"name": "partition hpc", "nodes": "gpu[01-04]", "most": 1},
        {"name": "unit leaf1", "nodes": "gpu[01-02]", "most": 1},
        {"name": "unit leaf2", "nodes": "gpu[03-04]", "most": 1},
    ]


def test_limits_without_a_node_of_the_run_are_left_out() -> None:
    view = maintenance(NODES, SLURM, ["gpu01"], 0)
    assert "unit leaf2" not in [it["name"] for it in view["groups"]]
