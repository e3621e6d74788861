# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import (
    Coverage,
    Missing,
    State,
    Suspect,
    sentence,
)

from tests.unit.module_utils.proof.schedule.simulated import fabric

RAILS = (0, 1)


def test_passing_tests_prove_ports_and_leaf_pairs_and_failing_ones_nothing() -> None:
    state = State(fabric(5, 2, 2), 0)
    state.level = 1
    ring = sites.Test(sites.RAILS, ("n0", "n2"), RAILS)
    pair = sites.Test(sites.PAIR, ("n1", "n3"), (1,))
    path = sites.Test(sites.PATH, ("n0", "n4"), (1,))
    cast = sites.Test(sites.INCAST, ("n0", "n1", "n2"), RAILS)
    state.record([ring], {ring: Missing("rail bandwidth", "n0", "no result")})
    assert state.coverage() == Coverage(10, 0, 12, 0, ("n0", "n1", "n2", "n3", "n4"))
    state.record([ring, pair, path], {ring: True, pair: True, path: True})
    assert state.coverage() == Coverage(10, 6, 12, 5, ("n1", "n3", "n4"))
    state.record([cast], {cast: True})
    assert state.coverage() == Coverage(10, 7, 12, 5, ("n3", "n4"))
    assert (state.rounds, state.tests, state.runs, state.seconds) == (3, 5, 5, 40 + 40 + 20)


def test_launches_are_counted_once_for_the_same_nodes() -> None:
    state = State(fabric(4, 2, 2), 0)
    pairs = [sites.Test(sites.PAIR, ("n0", "n1"), (rail,)) for rail in RAILS]
    state.record(pairs, dict.fromkeys(pairs, True))
    assert (state.tests, state.runs) == (2, 1)


def test_a_crossing_proves_no_cable() -> None:
    state = State(fabric(4, 2, 2), 0)
    test = sites.Test(sites.CROSSING, ("n0", "n1"), RAILS)
    state.record([test], {test: True})
    assert state.coverage().ports_passed == 0


def cable(node: str) -> Suspect:
    return Suspect("cable", (node,), (0,), ("u0r0",), evidence=(node,))


def test_three_cables_of_a_leaf_without_a_passing_port_are_the_leaf() -> None:
    state = State(fabric(8, 4, 2), 0)
    for node in ("n0", "n0", "n1"):
        state.name(cable(node))
    assert [it.nodes for it in state.suspects] == [("n0",), ("n1",)] and not state.settled("n3")
    state.name(cable("n2"))
    assert state.suspects == [Suspect("leaf", leaves=("u0r0",), evidence=("n0", "n1", "n2"))]
    assert state.settled("n3") and state.settled(("u1", "u0")) and not state.settled("n4")


def test_they_stay_cables_if_one_port_of_the_leaf_has_passed() -> None:
    state = State(fabric(8, 4, 2), 0)
    state.ports.add(("n3", 0))
    for node in ("n0", "n1", "n2"):
        state.name(cable(node))
    assert [it.kind for it in state.suspects] == ["cable"] * 3


def test_nodes_behind_one_leaf_are_that_leaf_and_leaf_pairs_are_its_uplinks() -> None:
    state = State(fabric(12, 3, 2, shared=True), 0)
    for node in ("n0", "n1", "n2"):
        state.name(Suspect("node", (node,)))
    for other in ("u0", "u2", "u3"):
        state.name(Suspect("leaf pair", leaves=("u1", other)))
    assert [(it.kind, it.leaves) for it in state.suspects] == [("leaf", ("u0",)), ("uplinks", ("u1",))]
    assert not state.settled("n3") and state.settled(("u1", "u2"))


def test_evidence_names_the_test_and_its_answer() -> None:
    test = sites.Test(sites.PAIR, ("n0", "n1"), (3,))
    answers = (True, False, Missing("rail bandwidth", "n0", "no result after 60 s"))
    assert [sentence(test, it) for it in answers] == [
        f"pair n0,n1 rail 3: {it}" for it in ("passed", "failed", "missing (no result after 60 s)")
    ]
