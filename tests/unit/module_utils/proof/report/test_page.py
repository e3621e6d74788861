# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report import page
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.measures import rows

from tests.unit.module_utils.proof.results import example

FAULTY, CLEAN = example(8), example(8, faulty=False)


def test_ports_are_shares_of_their_limit_in_percent() -> None:
    [unit] = page.view(FAULTY)["units"]
    assert unit.title == "su1: gpu[001-008]: 47 of 64 ports within the limit"
    nodes = {it.name: it for it in unit.rows}
    assert [it.text[:2] for it in nodes["gpu002"].cells] == ["10", "10", "10", "✕ ", "10", "10", "10", "10"]
    assert nodes["gpu002"].cells[3].tone == "bad" and int(nodes["gpu002"].cells[3].text[2:4]) < 80
    assert {it.text for it in nodes["gpu008"].cells} == {"-"}
    assert [it.name for it in unit.rows if it.calm] == ["gpu001", "gpu003", "gpu004"]


def test_a_port_below_its_limit_never_shows_100_percent() -> None:
    short = [replace(it, value=it.limit * 0.9999, passed=False) for it in CLEAN.measures if it.limit]
    cells = [it for unit in page.view(replace(CLEAN, measures=short))["units"] for row in unit.rows for it in row.cells]
    assert {it.text for it in cells} == {"99 %"}


def test_of_a_large_site_only_nodes_with_findings_have_a_row() -> None:
    units = page.view(example(page.MOST_NODES + 32))["units"]
    assert sum(len(it.rows) for it in units) == 5
    assert sum(it.hidden for it in units) == page.MOST_NODES + 32 - 5


def test_the_spread_marks_measures_beyond_the_limit() -> None:
    [row] = [it for it in rows(example(64).measures) if it.name == "host_to_device"]
    picture = page.spread(row)
    assert picture and {it.tone for it in picture.boxes} == {"bad", "good"}
    assert picture.boxes[0].title == "below 82 % of the limit: 2"
    assert max(it.height for it in picture.boxes) <= page.HIGH and min(it.height for it in picture.boxes) >= 2
    assert page.spread(next(it for it in rows(FAULTY.measures) if it.limit is None)) is None


@pytest.mark.parametrize(
    ("result", "outcome"), [(FAULTY, "bad"), (CLEAN, "good"), (replace(CLEAN, complete=False), "warning")]
)
def test_the_verdict_has_a_colour(result: page.Result, outcome: str) -> None:
    assert page.view(result)["outcome"] == outcome


def test_a_site_without_leaves_or_fabric_has_no_pictures() -> None:
    found = page.view(replace(CLEAN, leaves={}, fabric=type(CLEAN.fabric)()))
    assert (found["topology"], found["maps"], found["units"], found["numbers"]) == (None, [], [], [])
    assert found["comparison"] is None
