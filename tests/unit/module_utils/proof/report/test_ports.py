# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.ports import (
    Cell,
    fabric_of,
    hops,
    shade,
    worst,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import (
    Judged,
    NodeVerdict,
    ProofFinding,
    Result,
)

NODES = tuple(NodeVerdict(name, "h100", unit, "proved") for name, unit in (("a1", "a"), ("a2", "a"), ("b1", "b")))
LEAVES = {"a": ["a-r0", "a-r1"], "b": ["b-r0", "b-r1"]}
EMPTY = Result("2", "c", "", "", True, NODES, leaves=LEAVES)


def made(value: float, where: str, *nodes: str, rail: int | None = 0) -> Judged:
    return Judged("fabric", "rail bandwidth", where, value, "Gb/s", 100, True, "why", value >= 100, nodes, rail)


RING, PAIR, PATH = made(101, "ring", "a1", "a2", "b1"), made(105, "pair", "a1", "b1"), made(103, "a2 -> b1", "a2", "b1")
INCAST = made(102, "incast a2,b1 -> a1", "a1", "a2", "b1")


def states(measures: list[Judged], *findings: ProofFinding) -> tuple[str, str]:
    """Initials of the states: rail 0 and 1 of a1, a2 and b1; a-a, a-b, b-a and b-b of rail 0, then of rail 1."""
    found = fabric_of(replace(EMPTY, measures=measures, findings=findings))
    ports, pairs = ("".join(cell.state[0] for cell in cells.values()) for cells in (found.ports, found.pairs))
    return ports, pairs


@pytest.mark.parametrize(
    ("measures", "ports", "pairs"),
    [
        ([], "nnnnnn", "nnnnnnnn"),
        ([RING], "gngngn", "gggnnnnn"),
        ([PAIR], "gnnngn", "nggnnnnn"),
        ([PATH], "nngngn", "ngnnnnnn"),
        ([INCAST], "gngngn", "nnnnnnnn"),
        ([replace(RING, rail=None)], "gggggg", "gggngggn"),
        ([replace(RING, value=50, passed=False)], "nnnnnn", "nnnnnnnn"),
        ([replace(RING, rail=None), replace(RING, value=50, passed=False)], "gggggg", "gggngggn"),
        ([replace(RING, value=50, passed=False), PAIR], "gnnngn", "nggnnnnn"),
        ([replace(RING, unit="us")], "nnnnnn", "nnnnnnnn"),
        ([replace(RING, check="GPU copies")], "nnnnnn", "nnnnnnnn"),
        ([replace(RING, limit=None)], "nnnnnn", "nnnnnnnn"),
        ([replace(RING, nodes=("a1", "c9"))], "gnnnnn", "nnnnnnnn"),
    ],
)
def test_a_passing_test_proves_the_ports_and_leaf_pairs_that_it_used(
    measures: list[Judged], ports: str, pairs: str
) -> None:
    assert states(measures) == (ports, pairs)


@pytest.mark.parametrize(
    ("finding", "ports", "pairs"),
    [
        (ProofFinding("fabric", "cable", "t", "", ("a2",), (0,), ("a-r0",)), "ggbggg", "gggngggn"),
        (ProofFinding("fabric", "node", "t", "", ("a2",)), "ggbbgg", "gggngggn"),
        (ProofFinding("fabric", "undecided", "t", "", ("a1", "a2")), "wwwwgg", "gggngggn"),
        (ProofFinding("GPU copies", "limit", "t", "", ("a2",)), "gggggg", "gggngggn"),
        (ProofFinding("rails", "limit", "t", "", ("a2",), (1,), warning=True), "gggwgg", "gggngggn"),
        (ProofFinding("fabric", "leaf", "t", "", leaves=("a-r1",)), "gbgbgg", "gggnbbbn"),
        (ProofFinding("fabric", "uplinks", "t", "", leaves=("a-r1",)), "gggggg", "gggngbbn"),
        (ProofFinding("fabric", "leaf pair", "t", "", leaves=("a-r0", "b-r0")), "gggggg", "gbbngggn"),
        (ProofFinding("fabric", "path", "t", "", leaves=("b-r0", "a-r0")), "gggggg", "ggbngggn"),
        (ProofFinding("fabric", "unit pair", "t", "", leaves=("a-r0", "b-r0", "a-r1", "b-r1")), "gggggg", "gbbngbbn"),
        (ProofFinding("fabric", "cable", "t", "", ("a2",), (7,)), "gggggg", "gggngggn"),
        (
            ProofFinding("cabling", "limit", "t", "", leaves=("a-r1",), warning=True),
            "gggggg",
            "gggngggn",
        ),
    ],
)
def test_a_finding_marks_its_ports_and_leaf_pairs(finding: ProofFinding, ports: str, pairs: str) -> None:
    assert states([replace(RING, rail=None)], finding) == (ports, pairs)


def test_the_best_measure_is_shown_and_one_of_the_rail_before_one_of_all_rails() -> None:
    whole = replace(RING, rail=None, value=200)
    found = fabric_of(replace(EMPTY, measures=[PAIR, whole, RING, replace(RING, value=50, passed=False)]))
    assert [found.ports[port].measure for port in (("a1", 0), ("a2", 0), ("a1", 1))] == [PAIR, RING, whole]
    assert shade(found.ports["a1", 0]) == 3 and shade(found.ports["a2", 0]) == 1 and shade(Cell()) == 0


def test_without_leaves_there_are_no_ports() -> None:
    found = fabric_of(replace(EMPTY, leaves={}, measures=[RING]))
    assert (found.ports, found.pairs, hops(replace(RING, nodes=("a1",)))) == ({}, {}, [])
    assert (worst([]), worst(["good", "none"]), worst(["bad", "warning"])) == ("none", "none", "bad")
