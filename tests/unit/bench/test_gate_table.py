# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from bench import gate_table

Json = dict[str, object]


def part(wall: float, cpu: float = 1.0, **more: object) -> Json:
    counts = {"calls": 2, "writes": 1, "node_writes": 1, "bytes": 100, "each": [wall], "since": 10.0, "until": 20.0}
    return {"wall": wall, "cpu": cpu, **counts, **more}


def life(size: int = 1, /, **parts: Json) -> Json:
    usual = {
        "seed prolog": part(1.0),
        "open": part(0.1, 0.04),
        "place": part(0.3),
        "seed epilog": part(2.0),
        "end": part(0.1, 0.02),
        "close": part(0.3, 0.02),
    }
    return {"size": size, "parts": {**usual, **parts}}


def event(verb: str, at: float = 15.0, uri: str = "/api/v1/nodes/node00001", code: int = 200) -> Json:
    where = {"resource": "nodes", "name": "node00001"}
    return {"verb": verb, "at": at, "requestURI": uri, "responseStatus": {"code": code}, "objectRef": where}


def test_calls_are_those_of_the_time_and_writes_those_that_changed_something() -> None:
    log = [
        event("patch", 9.9),
        event("patch"),
        event("patch", code=422),
        event("patch", uri="/api/v1/nodes/node00001?dryRun=All"),
        event("get"),
        {"verb": "get", "at": 16.0, "requestURI": "/api", "responseStatus": {"code": 200}},
    ]
    found = gate_table.counted(part(1.0), log)
    assert (found["calls"], found["writes"], found["node_writes"]) == (5, 1, 1)


def test_both_sides_stand_beside_each_other() -> None:
    table = gate_table.compared([life(), life(), life(8)])
    assert list(table) == ["1", "8"]
    assert table["1"]["rounds"] == 2
    assert table["1"]["open"]["ratios"] == {"p50": 0.1, "p99": 0.1, "cpu": 0.04, "calls": 1.0}
    assert table["1"]["close"]["gate"]["p50"] == pytest.approx(0.4), "both halves of the gate"
    assert table["1"]["of one host"]["place"] == {"p50": 0.3, "p99": 0.3}


def test_the_slowest_of_a_few_is_their_99th_percentile() -> None:
    found = gate_table.middles([part(float(number)) for number in range(1, 31)])
    assert (found["p50"], found["p99"]) == (15.5, 30.0)


GROWTH = {"500": {"open_calls": 9, "open_bytes": 1, "close_calls": 9, "close_bytes": 1}}


def test_goals_that_are_met_are_not_mentioned() -> None:
    assert gate_table.missed(gate_table.compared([life()]), GROWTH) == []


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"open": part(0.5, 0.04)}, "to open 1 takes 0.50 of the seed's p50, the goal is 0.25"),
        ({"open": part(0.1, 0.06)}, "to open 1 takes 0.06 of the seed's cpu, the goal is 0.05"),
        ({"end": part(0.5, 0.01)}, "to close 1 takes 0.40 of the seed's p50"),
        ({"open": part(0.1, 0.04, node_writes=2)}, "to open 1 takes 2 writes to nodes"),
    ],
)
def test_a_goal_that_is_missed_is_a_sentence(parts: dict[str, Json], sentence: str) -> None:
    (found,) = gate_table.missed(gate_table.compared([life(**parts)]), GROWTH)
    assert found.startswith(sentence)


def test_growth_is_a_sentence() -> None:
    (found,) = gate_table.missed(gate_table.compared([life()]), {**GROWTH, "5000": {**GROWTH["500"], "open_calls": 10}})
    assert found == "open_calls grow with the cluster: [9, 10]"


def test_the_page_has_a_line_for_each_size_and_deed() -> None:
    page = gate_table.page(gate_table.compared([life()]), GROWTH)
    assert "| 1 | open | 1.00, 1.00 | 0.10, 0.10 | 0.10 | 1.00 | 0.04 | 0.040 | 2 | 2 | 1 | 1 |\n" in page
    assert "| 500 | 9 | 1 | 9 | 1 |\n" in page
