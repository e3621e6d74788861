# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.narrow import Narrow
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.partners import Free
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.search import Search
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import State
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.steps import PairStep

from tests.unit.module_utils.proof.schedule.simulated import Faults, fabric, named, proof

BOTH = {("u0r2", "u3r2"), ("u3r2", "u0r2")}
LEAF = {(f"n{number}", 3) for number in range(32, 64)}
UPLINKS = {way for it in range(6) for way in ((f"u{it}r2", "u6r2"), ("u6r2", f"u{it}r2"))}
CABLES = {(f"n{number}", number % 8) for number in (3, 57, 99, 140, 200)}
PLANTED = {
    "slow node": (Faults(slow={"n7"}), {("node", "n7")}),
    "slow cable": (Faults(cables={("n7", 3)}), {("cable", "n7", 3)}),
    "two cables of a node": (Faults(cables={("n7", 3), ("n7", 4)}), {("cable", "n7", 3), ("cable", "n7", 4)}),
    "dead port": (Faults(dead={("n7", 3)}), {("cable", "n7", 3)}),
    "rail in the lossy class": (Faults(lossy={("n7", 3)}), {("cable", "n7", 3)}),
    "slow leaf pair": (Faults(paths=BOTH), {("leaf pair", "u0r2", "u3r2")}),
    "asymmetric path": (Faults(paths={("u5r2", "u3r2")}), {("path", "u5r2", "u3r2")}),
    "swapped cables": (Faults(swapped={"n40": (2, 5)}), {("swapped cables", "n40", 2, 5)}),
    "two in one half": (Faults(slow={"n0"}, cables={("n1", 3)}), {("node", "n0"), ("cable", "n1", 3)}),
    "two of one pair of units": (Faults(paths=BOTH | {("u3r1", "u0r1")}),
                                 {("leaf pair", "u0r2", "u3r2"), ("path", "u3r1", "u0r1")}),
    "one hides another": (Faults(cables={("n7", 3)}, lossy={("n6", 2)}, paths=BOTH),
                          {("cable", "n7", 3), ("cable", "n6", 2), ("leaf pair", "u0r2", "u3r2")}),
    "five": (Faults(cables=CABLES), {("cable", *it) for it in CABLES}),
    "five kinds": (Faults(slow={"n1"}, cables={("n2", 0)}, lossy={("n9", 7)}, paths=BOTH, swapped={"n3": (0, 1)}),
                   {("node", "n1"), ("cable", "n2", 0), ("cable", "n9", 7), ("leaf pair", "u0r2", "u3r2"),
                    ("swapped cables", "n3", 0, 1)}),
    "a whole leaf": (Faults(cables=LEAF), {("leaf", "u1r3")}),
    "a leaf's uplinks": (Faults(paths=UPLINKS), {("uplinks", "u6r2")}),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_faults_are_named_exactly(fault: str) -> None:
    faults, names = PLANTED[fault]
    search = proof(fabric(224), faults)
    assert named(search) == names
    assert all(it.evidence for it in search.verdict())
    assert search.tests <= search.bound.tests and search.rounds <= search.bound.rounds


def test_a_ring_that_fails_in_both_directions_is_halved_once() -> None:
    both, one = (proof(fabric(224), Faults(paths=paths)) for paths in (BOTH, {("u0r2", "u3r2")}))
    assert both.tests - one.tests == 1, "the repetition of the second path"


def test_with_one_leaf_for_all_rails_a_leaf_pair_and_a_leaf_are_named_once() -> None:
    site = fabric(232, shared=True)
    faults = Faults(paths={("u1", "u2"), ("u4", "u2")}, cables={("n3", 3)})
    assert named(proof(site, faults)) == {("path", "u1", "u2"), ("path", "u4", "u2"), ("cable", "n3", 3)}
    faults = Faults(cables={(f"n{number}", rail) for number in range(32, 64) for rail in range(8)})
    assert named(proof(site, faults)) == {("leaf", "u1")}


@pytest.mark.parametrize(
    ("nodes", "faults", "names"),
    [
        (2, Faults(cables={("n1", 3)}), {("undecided", "n0", "n1", 3)}),
        (3, Faults(cables={("n1", 3)}), {("cable", "n1", 3)}),
        (3, Faults(slow={"n0"}, cables={("n1", 3)}), {("undecided", "n0", "n1", "n2", 3)}),
        (3, Faults(lossy={("n1", 2)}), {("undecided", "n0", "n1", "n2", 2)}),
        (4, Faults(slow={"n0"}, cables={("n1", 3)}), {("node", "n0"), ("cable", "n1", 3)}),
        (6, Faults(swapped={"n0": (1, 2)}), {("swapped cables", "n0", 1, 2)}),
    ],
)
def test_where_partners_are_too_few_the_verdict_says_so(nodes: int, faults: Faults, names: set[object]) -> None:
    assert named(proof(fabric(nodes), faults)) == names


def test_a_slow_leaf_pair_makes_no_cable_of_a_node_whose_mates_were_tested_later() -> None:
    """n13's first partners are behind the leaf pair, since its unit has four faults."""
    faults = Faults(
        swapped={"n12": (0, 1)},
        cables={("n11", 0), ("n14", 0), ("n9", 1)},
        paths={("u0r0", "u1r0"), ("u1r0", "u0r0")},
    )
    wanted = {("swapped cables", "n12", 0, 1), *(("cable", *it) for it in faults.cables)}
    assert named(proof(fabric(16, 8, 2), faults, 1164)) == wanted | {("leaf pair", "u0r0", "u1r0")}


def test_a_group_that_fails_only_together_is_undecided_after_three_failures() -> None:
    search, seen = Search(fabric(8)), 0
    while tests := search.next_round():
        seen += sum(len(test.nodes) == 8 for test in tests)
        search.take({test: len(test.nodes) < 8 for test in tests})
    assert named(search) == {("undecided", *(f"n{number}" for number in range(8)))} and seen == 3


def test_one_failure_is_noise_and_two_of_three_are_a_fault() -> None:
    def names(*fails: int) -> set[tuple[object, ...]]:
        """Groups with n0 and n1 fail; of the tests of n0 with a partner, those with these numbers fail."""
        search, count = Search(fabric(8, incast=0)), -1
        while tests := search.next_round():
            results = dict.fromkeys(tests, True)
            for test in tests:
                if test.kind == sites.COLLECTIVE and test.nodes[0] == "n0":
                    count += len(test.nodes) == 2
                    results[test] = len(test.nodes) == 2 and count not in (0, *fails)
            search.take(results)
        return named(search)

    assert names(1) == names(2) == set()
    assert names(1, 2) == {("node", "n0")}


def test_settled_pairs_divide_the_path_of_the_others() -> None:
    """All pairs of u2 are settled by its uplinks, so that the ring of the others is found in pieces."""
    site = fabric(24, 4)
    narrow = Narrow(site, State(site, 0), PairStep(site))
    narrow.state.cut = {"u2"}
    narrow._spawn([("u0", "u1"), ("u1", "u2"), ("u2", "u3"), ("u3", "u4"), ("u4", "u5")])
    built = [task.want(Free(narrow.state)) for task in narrow.spawned]
    assert built == [None, None], "no known good node yet"
    narrow.state.trust = dict.fromkeys(site.unit_of, 1)
    rings = [test.nodes for task in narrow.spawned for test in task.want(Free(narrow.state)) or ()]
    assert [[site.unit_of[node] for node in ring] for ring in rings] == [["u0", "u1"], ["u3", "u4", "u5", "u4"]]
