# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles.slurm_gate.files.gate.states import CLOSED, LABEL, Owner, closing, dirtying, gate_taint, opening
from tests.unit.roles.slurm_gate.cluster import node

OWNER = Owner("vision", 4711)
EDGES = {edge.name: edge for edge in (opening(OWNER), dirtying(OWNER), closing(OWNER))}


def test_the_life_of_a_node() -> None:
    it = node()
    seen = []
    for edge in EDGES.values():
        it = jsonpatch.apply_patch(it, edge.patch())
        seen.append((gate_taint(it)[1], it["metadata"]["labels"].get(LABEL)))
    assert seen == [("vision.4711", "4711"), ("dirty_vision.4711", None), (CLOSED, None)]


VALUES = st.sampled_from([CLOSED, "vision.4711", "dirty_vision.4711", "vision.471", "speech.4711", "dirty_chem.1", ""])


@given(edge=st.sampled_from(sorted(EDGES)), value=VALUES, index=st.integers(0, 2), guess=st.integers(0, 2))
def test_a_patch_moves_a_node_only_from_where_the_edge_begins(edge: str, value: str, index: int, guess: int) -> None:
    """Whoever wrote before us, and wherever the taint stands: another state is never overwritten."""
    before = node(value, index)
    if value == OWNER.held:
        before["metadata"]["labels"][LABEL] = "4711"
    try:
        after = jsonpatch.apply_patch(before, EDGES[edge].patch(guess))
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
        assert value != EDGES[edge].before or index != guess
        return
    assert (value, index) == (EDGES[edge].before, guess)
    assert gate_taint(after) == (index, EDGES[edge].after)
    assert after["spec"]["taints"][:index] == before["spec"]["taints"][:index]


def test_of_two_openers_one_wins() -> None:
    first = jsonpatch.apply_patch(node(), opening(OWNER).patch())
    with pytest.raises(jsonpatch.JsonPatchTestFailed):
        jsonpatch.apply_patch(first, opening(Owner("speech", 4712)).patch())


def test_a_foreign_taint_of_the_same_value_is_not_ours() -> None:
    before = node(index=1)
    before["spec"]["taints"][0]["value"] = CLOSED
    with pytest.raises(jsonpatch.JsonPatchTestFailed):
        jsonpatch.apply_patch(before, opening(OWNER).patch())
