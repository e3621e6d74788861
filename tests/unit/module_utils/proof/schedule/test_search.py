# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.search import (
    Search,
    bound,
    pairs_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.site import (
    RAILS,
    Site,
    uplink_flows,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import Missing
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.module_utils.proof.schedule.simulated import Fabric, Faults, drawn, fabric, named, proof

SIZES = (8, 128, 232, 1024, 10000)


def test_tests_time_and_coverage_beside_all_pairs() -> None:
    """`pytest -s` prints the table."""
    print(f"\n{'nodes':>6} {'tests':>6} {'rounds':>6} {'minutes':>7} {'ports':>6} {'leaf pairs':>10} {'all pairs':>10}")
    for nodes in SIZES:
        site = fabric(nodes)
        search = proof(site, Faults())
        coverage, (pairs, _rounds) = search.coverage(), pairs_of(site)
        cells = (nodes, search.tests, search.rounds, search.seconds // 60, coverage.ports, coverage.leaf_pairs, pairs)
        print("{:6} {:6} {:6} {:7} {:6} {:10} {:10}".format(*cells))
        assert search.verdict() == [] and search.tests == search.bound.clean_tests <= max(4, nodes // 4)
        assert (coverage.ports, coverage.leaf_pairs) == (coverage.ports_passed, coverage.leaf_pairs_passed)
        assert search.rounds <= 24


def test_five_faults_in_232_nodes_take_tens_of_launches() -> None:
    cables = {(f"n{number}", number % 8) for number in (3, 57, 99, 140, 200)}
    search = proof(fabric(232), Faults(cables=cables))
    assert len(named(search)) == 5 and search.rounds < 15
    assert search.runs <= 100 < search.tests < 140 and pairs_of(fabric(232)) == (26796, 231)


@pytest.mark.parametrize("seed", range(20))
def test_noise_names_none(seed: int) -> None:
    for nodes in (8, 128, 232, 1024):
        search = proof(fabric(nodes), Faults(noise=0.025, outliers=0.01), seed)
        coverage = search.coverage()
        assert search.verdict() == [] and coverage.ports == coverage.ports_passed
        assert coverage.leaf_pairs == coverage.leaf_pairs_passed


def test_faults_are_named_in_noise() -> None:
    for seed in range(5):
        faults = Faults(slow={"n1"}, cables={("n77", 3)}, paths={("u1r1", "u2r1")}, noise=0.025, outliers=0.01)
        assert named(proof(fabric(128), faults, seed)) == {
            ("node", "n1"),
            ("cable", "n77", 3),
            ("path", "u1r1", "u2r1"),
        }


def test_rounds_of_leaf_pairs_load_all_uplinks_evenly() -> None:
    site, flows = fabric(1024), []
    search = Search(site)
    while tests := search.next_round():
        if all(test.kind == RAILS for test in tests) and (found := set(uplink_flows(site, tests).values())) != {0}:
            flows.append(found)
        search.take(dict.fromkeys(tests, True))
    assert flows == [{32}]


SITES = st.builds(
    fabric,
    st.integers(1, 40),
    st.integers(1, 9),
    rails=st.integers(1, 4),
    shared=st.booleans(),
    group=st.integers(2, 16),
    incast=st.integers(0, 6),
    most=st.integers(1, 3),
)


@settings(max_examples=40, deadline=None)
@given(SITES, st.integers(0, 2**16), st.integers(0, 100))
def test_bounds_ports_and_resumption_hold_for_any_answers(site: Site, seed: int, percent: int) -> None:
    luck = random.Random(seed)
    search, met, cut = Search(site, seed), set(), luck.randrange(1, 8)
    missing = Missing("rail bandwidth", "here", "no result")
    while tests := search.next_round():
        ports = [port for test in tests for port in test.ports()]
        assert len(ports) == len(set(ports))
        met |= {node for node, _rail in ports}
        search.take({test: luck.randrange(100) >= percent or luck.choice((False, missing)) for test in tests})
        if search.rounds == cut:
            search = Search.from_json(site, json.loads(json.dumps(search.to_json())))
        assert 0 <= search.progress <= 1
    assert search.tests <= search.bound.tests and search.rounds <= search.bound.rounds and search.progress == 1
    named_nodes = {node for suspect in search.verdict() for node in suspect.nodes}
    assert len(site.unit_of) < 2 or met | named_nodes >= set(site.unit_of)


OFTEN_WRONG = (446, 528, 861, 1966, 2107, 2935)
"""Draws that need a rule which few others need, such as no partner behind a slow leaf pair."""


@pytest.mark.parametrize("seeds", [range(0, 60), range(60, 120), OFTEN_WRONG])
def test_drawn_faults_are_named_exactly(seeds: Sequence[int]) -> None:
    for seed in seeds:
        site, faults, names = drawn(seed)
        assert named(proof(site, faults, seed)) == names, seed


def test_a_search_that_is_resumed_in_each_round_gives_the_same_verdict() -> None:
    for seed in range(5):
        site, faults, _names = drawn(seed)
        whole, search, answers = proof(site, faults, seed), Search(site, seed), Fabric(site, faults)
        while tests := search.next_round():
            assert tests == search.next_round()
            search.take({test: answers.answer(test) for test in tests})
            search = Search.from_json(site, json.loads(json.dumps(search.to_json())))
        assert (search.verdict(), search.tests, search.rounds) == (whole.verdict(), whole.tests, whole.rounds)


def test_a_saved_proof_is_of_its_site_and_release() -> None:
    search = Search(fabric(8))
    search.take({})
    saved = search.to_json()
    with pytest.raises(ValueError, match="other nodes or leaves"):
        Search.from_json(fabric(9), saved)
    with pytest.raises(ValueError, match="another release"):
        Search.from_json(fabric(8), {**saved, "rounds": [[True, True]]})


def test_a_test_without_a_result_is_missing_and_an_ended_search_takes_none() -> None:
    search = Search(fabric(8, most=1))
    while search.next_round():
        search.take({})
    assert {it.kind for it in search.verdict()} == {"undecided"}
    assert "missing (no result)" in search.verdict()[0].evidence[0]
    with pytest.raises(ValueError, match="has ended"):
        search.take({})


def test_one_node_has_nothing_to_test() -> None:
    search = Search(fabric(1))
    assert (search.next_round(), search.verdict(), search.progress) == ([], [], 1.0)
    assert str(bound(fabric(1))).startswith("0 tests without a fault, at most ")


def test_beyond_the_bound_groups_stay_undecided_and_screening_goes_on() -> None:
    faults = Faults(slow={f"n{number}" for number in range(0, 128, 5)})
    search = proof(fabric(232, most=1), faults)
    left = [it.nodes for it in search.verdict() if it.kind == "undecided"]
    assert max(map(len, left)) > 1, "a failed group is reported as it is"
    assert faults.slow <= {node for it in search.verdict() for node in it.nodes} | {*search.coverage().nodes}
    assert search.bound.clean_tests < search.tests <= search.bound.tests


def test_both_bounds_end_a_search() -> None:
    faults = Faults(slow={f"n{number}" for number in range(0, 128, 5)})
    for change, limit in (({"tests": 66}, (66, 99)), ({"rounds": 6}, (999, 6))):
        site = fabric(232)
        search, answers = Search(site), Fabric(site, faults)
        search.bound = replace(search.bound, **change)
        while tests := search.next_round():
            search.take({test: answers.answer(test) for test in tests})
        assert search.tests <= limit[0] and search.rounds <= limit[1]
        assert "undecided" in {it.kind for it in search.verdict()}
