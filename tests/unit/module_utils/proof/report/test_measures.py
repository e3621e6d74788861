# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.measures import (
    BINS,
    rows,
    share,
    slowest_rail,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Judged


def made(value: float, limit: float | None = 100.0, at_least: bool = True, **more: object) -> Judged:
    passed = limit is None or (value >= limit if at_least else value <= limit)
    return replace(Judged("c", "n", "w", value, "Gb/s", limit, at_least, "why", passed, ("a", "b"), 0), **more)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (made(90), 0.9),
        (made(4, 5, at_least=False), 1.25),
        (made(math.nan), 0),
        (made(1, None), math.inf),
        (made(0, 5, at_least=False), math.inf),
    ],
)
def test_the_share_of_the_limit_is_one_or_more_if_it_passed(measure: Judged, expected: float) -> None:
    assert share(measure) == expected


def test_rows_join_measures_with_the_same_limit() -> None:
    found = rows([made(105), made(90), made(101), made(7, 5, False, name="m"), made(1, None, check="d"), made(9, None)])
    assert [(it.check, it.name, it.count, it.failed, it.worst.value, it.middle) for it in found] == [
        ("c", "m", 1, 1, 7, 7),
        ("c", "n", 3, 1, 90, 101),
        ("c", "n", 1, 0, 9, 9),
        ("d", "n", 1, 0, 1, 1),
    ]
    assert [index for index, number in enumerate(found[1].bins) if number] == [5, 10, 12]
    assert found[2].bins == () and rows([]) == []


def test_bins_have_all_measures_and_the_limit_itself_passes() -> None:
    [row] = rows([made(it) for it in (0, 79, 100, 119.9, 120, 500, math.inf, math.nan)])
    assert (sum(row.bins), len(row.bins), row.bins[0], row.bins[10], row.bins[-1]) == (8, BINS, 4, 1, 3)


def test_the_slowest_rail_is_a_pair_if_one_failed() -> None:
    ring = made(50, nodes=("a", "b", "c"))
    assert slowest_rail([made(103), ring, made(60), made(1, rail=None)]) == made(60)
    assert slowest_rail([made(103), ring]) == ring
    assert slowest_rail([made(103), made(101), made(1, None)]) == made(101)
    assert slowest_rail([]) is None
