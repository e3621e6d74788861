# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.partners import Free
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import (
    State,
    Suspect,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.steps import (
    IncastStep,
    NodeStep,
    PairStep,
    Want,
)

from tests.unit.module_utils.proof.schedule.simulated import fabric

SITE = fabric(12, 4, 2)


def state(site: sites.Site = SITE) -> State:
    found = State(site, 0)
    found.level = found.newest = 1
    found.trust = dict.fromkeys(site.unit_of, 1)
    return found


def built(want: Want, now: State | None = None) -> list[str] | None:
    tests = want(Free(now or state()))
    return tests if tests is None else [str(test) for test in tests]


def test_each_unit_is_a_group_large_ones_are_divided_and_single_nodes_share_one() -> None:
    site = fabric(9, 4, 2, group=3)
    assert [chunk for chunk, _want in NodeStep(site, sites.RAILS).screens(state(site))] == [
        ["n0", "n1"], ["n2", "n3"], ["n4", "n5"], ["n6", "n7"], ["n8"]
    ]  # fmt: skip
    assert [chunk for chunk, _ in NodeStep(fabric(3, 1), sites.RAILS).screens(State(fabric(3, 1), 0))] == [
        ["n0", "n1", "n2"]
    ]


def test_a_node_is_tested_with_a_mate_and_its_rails_one_by_one() -> None:
    step = NodeStep(SITE, sites.COLLECTIVE)
    assert built(step.together(["n0", "n1"])) == ["collective n0,n1 rail 0,1"]
    assert built(step.together(["n0"], ["n3"])) == ["collective n0,n2 rail 0,1"]
    assert built(step.apart("n0", [0, 1], ())) == ["pair n0,n3 rail 0", "pair n0,n3 rail 1"]


def test_a_few_rails_are_cables_and_most_of_several_are_the_node() -> None:
    step = NodeStep(fabric(8, 4, 4), sites.RAILS)
    assert step.suspects("n0", [1, 3]) == [
        Suspect("cable", ("n0",), (1,), ("u0r1",)),
        Suspect("cable", ("n0",), (3,), ("u0r3",)),
    ]
    assert step.suspects("n0", []) == step.suspects("n0", [0, 1, 2]) == [Suspect("node", ("n0",))]
    assert NodeStep(fabric(8, 4, 1), sites.RAILS).suspects("n0", [0])[0].kind == "cable"


def test_in_an_incast_the_receiver_is_of_another_group() -> None:
    step = IncastStep(SITE, "")
    [(first, _want), (second, _), *_rest] = step.screens(state())
    assert (first, second) == (["n0", "n1"], ["n2", "n3"])
    assert built(step.together(first)) == ["incast n0,n1 -> n3 rail 0,1"]
    assert built(step.together(["n0"])) == ["incast n0,n2 -> n3 rail 0,1"]
    assert built(step.apart("n0", [1], ())) == ["incast n0,n2 -> n3 rail 1"]


@pytest.mark.parametrize(
    ("nodes", "most", "senders"),
    [(8, 16, [4, 4]), (9, 16, [4, 5]), (40, 16, [4, 12, 12, 12]), (40, 3, [2] * 2 + [3] * 12)],
)
def test_each_unit_has_a_mild_incast(nodes: int, most: int, senders: list[int]) -> None:
    """Few senders must not be paused, and many would hide that they are."""
    site = fabric(nodes, nodes, incast=most)
    chunks = [chunk for chunk, _want in IncastStep(site, "").screens(State(site, 0))]
    assert sorted(map(len, chunks)) == senders
    assert [name for chunk in chunks for name in chunk] == list(site.unit_of)


def test_rings_run_in_both_directions_and_units_with_other_rails_are_met_one_by_one() -> None:
    step = PairStep(SITE)
    assert [built(want) for _chunk, want in step.screens(state())] == [
        ["rails n11,n3,n7 rail 0,1"],
        ["rails n7,n3,n11 rail 0,1"],
    ]
    mixed = sites.site_of({"a": ["n0"], "b": ["n1"]}, {"n0": ["x", "y"], "n1": ["z"]})
    assert [(chunk, built(want, state(mixed))) for chunk, want in PairStep(mixed).screens(state(mixed))] == [
        ([("a", "b")], ["rails n0,n1 rail 0"])
    ]


def test_pairs_of_units_are_walked_there_and_back_and_their_leaf_pairs_are_paths() -> None:
    step = PairStep(SITE)
    assert built(step.together([("u0", "u1"), ("u1", "u2")])) == ["rails n3,n7,n11,n6 rail 0,1"]
    assert step.rounds_of_parts(("u0", "u1")) == [[(0, 0), (0, 1)], [(1, 0), (1, 1)]]
    assert built(step.apart(("u0", "u1"), [(1, 1)], ["n7"])) == ["path n6 -> n3 rail 1"]
    assert built(step.apart(("u0", "u1"), [(0, 1)], SITE.unit_of)) == ["path n3 -> n7 rail 1"], "no others are left"


def test_a_leaf_pair_is_slow_in_both_directions_and_a_path_in_one() -> None:
    found = PairStep(SITE).suspects(("u0", "u1"), [(0, 0), (0, 1), (1, 1)])
    assert found == [Suspect("leaf pair", leaves=("u0r1", "u1r1")), Suspect("path", leaves=("u0r0", "u1r0"))]
    assert PairStep(SITE).suspects(("u1", "u0"), []) == [Suspect("unit pair", units=("u0", "u1"))]
