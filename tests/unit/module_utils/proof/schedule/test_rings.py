# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.rings import (
    halves,
    parts,
    path_of,
    rings,
    there_and_back,
)


def test_parts_keep_the_order_and_differ_by_one_at_most() -> None:
    assert parts("abcdefg", 3) == [["a", "b"], ["c", "d"], ["e", "f", "g"]]
    assert parts("ab", 5) == [["a"], ["b"]] and parts("", 2) == []
    assert halves("abc") == (["a", "b"], ["c"]) and halves("a") == (["a"], [])


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 13, 32])
def test_rings_make_each_pair_of_units_neighbours(count: int) -> None:
    units = [f"u{number}" for number in range(count)]
    found = rings(units)
    met = Counter(frozenset(pair) for ring in found for pair in zip(ring, [*ring[1:], ring[0]]))
    assert all(sorted(ring) == sorted(units) for ring in found)
    assert len(met) == count * (count - 1) // 2 and len(found) == count // 2
    assert count % 2 == 0 or set(met.values()) == {1}


def test_one_unit_has_no_ring() -> None:
    assert rings(["u0"]) == rings([]) == []


def test_a_walk_there_and_back_tests_no_other_pair() -> None:
    path = path_of([("a", "b"), ("b", "c"), ("c", "d")])
    walk = there_and_back(path)
    assert (path, walk) == (["a", "b", "c", "d"], ["a", "b", "c", "d", "c", "b"])
    assert {frozenset(pair) for pair in zip(walk, [*walk[1:], walk[0]])} == {frozenset(it) for it in ("ab", "bc", "cd")}
    assert there_and_back(["a", "b"]) == ["a", "b"]
