# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Judged
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.suspects import (
    LOOK,
    finding,
    place,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import Suspect

SITE = sites.site_of({"u0": ["a", "b"], "u1": ["c"]}, {"a": ["l0", "l1"], "b": ["l0", "l1"], "c": ["l2", "l3"]})


def judged(value: float, nodes: str, rail: int | None = 0, **more: Any) -> Judged:
    own = {"limit": 380.0, "at_least": True, "passed": False, "why": "why", "unit": "Gb/s", **more}
    return Judged("fabric", "rail bandwidth", f"{nodes} {rail}", value, nodes=tuple(nodes), rail=rail, **own)


@pytest.mark.parametrize(
    ("suspect", "words"),
    [
        (Suspect("cable", ("a",), (1,), ("l1",)), "a rail1 at l1 is slow or lost with every partner"),
        (Suspect("swapped cables", ("a",), (0, 1)), "a: the cables of rail0 and rail1 are swapped"),
        (Suspect("node", ("a",)), "a is slow or lost with every partner"),
        (Suspect("leaf", leaves=("l0",)), "all ports of l0 are slow or lost"),
        (Suspect("uplinks", leaves=("l0",)), "the uplinks of l0 are slow or lost"),
        (Suspect("leaf pair", leaves=("l0", "l2")), "the leaf pair l0 and l2 is slow in both directions"),
        (Suspect("path", leaves=("l0", "l2")), "the path from l0 to l2 is slow, and the way back is not"),
        (Suspect("unit pair", units=("u0", "u1")), "the units u0 and u1 are slow with all rails at once"),
        (Suspect("undecided", ("a", "b")), "a test of a, b failed, and no part of it could be named"),
        (Suspect("undecided", units=("u0", "u1")), "a test of units u0, u1 failed, and no part of it could be named"),
    ],
)
def test_each_kind_of_suspect_has_its_sentence_and_what_to_look_at(suspect: Suspect, words: str) -> None:
    assert place(suspect) == words
    found = finding(suspect, [], SITE)
    assert (found.text, found.kind, found.nodes, found.rails) == (words, suspect.kind, suspect.nodes, suspect.rails)
    assert found.look and not {"{", "}"} & {*found.look}
    assert suspect.kind in LOOK


def test_the_worst_measure_of_the_suspect_is_the_reason() -> None:
    every = [
        judged(80, "ab", 1),
        judged(90, "ab"),
        judged(7, "ab", passed=True),
        judged(50, "bc"),
        judged(9, "ab", limit=5.0, at_least=False, unit="us"),
    ]
    assert finding(Suspect("cable", ("a",), (0,), ("l0",)), every, SITE).text.endswith(
        ": rail bandwidth of ab 0 is 90 Gb/s, below 380 Gb/s (why)"
    )
    assert "is 9 us, above 5 us (why)" in finding(Suspect("node", ("a",)), every[-1:], SITE).text
    assert "bc 0 is 50" in finding(Suspect("path", leaves=("l0", "l2")), every, SITE).text
    assert "is 80" in finding(Suspect("leaf", leaves=("l1",)), every, SITE).text
    assert "is 0 Gb/s" in finding(Suspect("node", ("b",)), [*every, judged(0, "b", None)], SITE).text


def test_without_a_measure_the_last_evidence_is_the_reason() -> None:
    found = finding(Suspect("node", ("a",), evidence=("first", "last")), [judged(1, "bc")], SITE)
    assert (found.text.endswith(": last"), found.evidence) == (True, ("first", "last"))
