# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.breaker import (
    SITE,
    Domain,
    domains,
    opening,
    shut_for,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Breaker
from hypothesis import given
from hypothesis import strategies as st

UNITS = {f"u{unit}": [f"n{unit}{at:02}" for at in range(32)] for unit in range(8)}
SOME = domains(Breaker(), UNITS)
FIRST, SECOND = UNITS["u0"], UNITS["u1"]
NAMES = [name for names in UNITS.values() for name in names]


@pytest.mark.parametrize(
    ("limits", "size", "most"),
    [
        (Breaker(), 256, (25, 128)),
        (Breaker(), 32, (3, 16)),
        (Breaker(), 15, (2, 7)),
        (Breaker(), 1, (2, 2)),
        (Breaker(site_percent=1, unit_percent=1, least=1), 199, (1, 1)),
        (Breaker(site_percent=100, unit_percent=100), 7, (7, 7)),
        (Breaker(least=20), 30, (20, 20)),
    ],
)
def test_a_limit_is_a_share_rounded_down_but_never_below_the_least(limits: Breaker, size: int, most: object) -> None:
    names = [f"n{at}" for at in range(size)]
    found = domains(limits, {"u0": names})
    assert [it.name for it in found] == [SITE, "u0"] and tuple(it.most for it in found) == most
    assert all(it.nodes == set(names) for it in found)


def test_the_site_has_the_nodes_of_all_units() -> None:
    assert [(it.name, len(it.nodes), it.most) for it in SOME[:2]] == [(SITE, 256, 25), ("u0", 32, 16)]


@pytest.mark.parametrize(
    ("drained", "wanted", "opened"),
    [
        ([], [], []),
        ([], FIRST[:16], []),
        ([], FIRST[:17], ["u0"]),
        (FIRST[:10], FIRST[10:16], []),
        (FIRST[:10], FIRST[5:16], []),
        (FIRST[:16], FIRST[16:17], ["u0"]),
        (FIRST[:13], SECOND[:12], []),
        (FIRST[:13], SECOND[:13], [SITE]),
        ([], [*FIRST, *SECOND[:9]], ["u0"]),
        ([], [*FIRST, *SECOND[:10]], [SITE]),
        (FIRST[:20], SECOND[:5], ["u0"]),
        (FIRST[:20], SECOND[:6], [SITE]),
        ([], [*FIRST, *SECOND], [SITE]),
        ([], NAMES, [SITE]),
        ([], [name for names in UNITS.values() for name in names[:4]], [SITE]),
    ],
)
def test_a_breaker_opens_beyond_its_limit(drained: list[str], wanted: list[str], opened: list[str]) -> None:
    assert sorted(opening(SOME, drained, wanted)) == sorted(opened)


def test_a_dead_leaf_switch_opens_the_breaker_of_its_unit_alone() -> None:
    found = opening(SOME, [SECOND[0]], FIRST)
    assert found == {"u0": "findings would keep 32 of 32 nodes drained, the limit is 16"}


def test_a_bad_check_opens_the_breaker_of_the_site_and_the_reason_counts_all_its_nodes() -> None:
    assert opening(SOME, [], NAMES) == {SITE: "findings would keep 256 of 256 nodes drained, the limit is 25"}


def test_nodes_that_drained_themselves_before_their_jobs_open_a_breaker() -> None:
    drained = [name for names in UNITS.values() for name in names[:4]]
    assert opening(SOME, drained, []) == {SITE: "findings would keep 32 of 256 nodes drained, the limit is 25"}


def test_nodes_without_a_unit_count_for_no_breaker() -> None:
    assert opening(SOME, ["login1"], [f"other{at}" for at in range(300)]) == {}


def test_an_open_breaker_shuts_for_its_nodes_and_the_site_is_named_first() -> None:
    assert shut_for(SOME, []) == {} and shut_for(SOME, ["u9"]) == {}
    assert shut_for(SOME, ["u1"]) == dict.fromkeys(SECOND, "u1")
    assert shut_for(SOME, ["u1", SITE]) == dict.fromkeys(NAMES, SITE)


@st.composite
def some_of_each_unit(draw: st.DrawFn) -> set[str]:
    counts = draw(st.lists(st.sampled_from([0, 0, 1, 3, 8, 16, 17, 32]), min_size=8, max_size=8))
    return {name for names, count in zip(UNITS.values(), counts) for name in names[:count]}


@given(some_of_each_unit(), some_of_each_unit())
def test_wishes_that_are_left_keep_all_limits(drained: set[str], wanted: set[str]) -> None:
    opened = opening(SOME, drained, wanted)
    left = wanted - set(shut_for(SOME, opened))
    closed = [it for it in SOME if not opened.keys() & {it.name, SITE}]
    assert all(len(it.nodes & (left | drained)) <= it.most for it in closed)
    assert opening(closed, drained | left, []) == {}


def test_two_nodes_of_one_unit_never_count_twice() -> None:
    only = [Domain("u0", frozenset({"a", "b", "c"}), 2)]
    assert opening(only, ["a", "b"], ["a", "b"]) == {} and list(opening(only, ["a"], ["b", "c"])) == ["u0"]
