# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report import words
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import (
    Judged,
    NodeVerdict,
    ProofFinding,
)

from tests.unit.module_utils.proof.results import example

CLEAN = example(8, faulty=False)
LIMIT = ProofFinding("GPU copies", "limit", "gpu01 gpu3: slow, not xgpu01 or gpu01-b", "run gpu01", ("gpu01",))


def measure(value: float, limit: float | None = 380.44, at_least: bool = True, passed: bool = False) -> Judged:
    return Judged("fabric", "rail bandwidth", "a -> b", value, "Gb/s", limit, at_least, "why", passed, ("a", "b"), 3)


@pytest.mark.parametrize(
    ("changes", "word", "part"),
    [
        ({}, "passed", "8 of 8 nodes proved. 31 min 7 s."),
        ({"complete": False}, "incomplete", "; the proof was interrupted, and the next run goes on."),
        ({"nodes": (NodeVerdict("a", "h100", "su1", "skipped"),)}, "incomplete", "0 of 1 node proved; 1 skipped."),
        ({"nodes": (NodeVerdict("a", "h100", "su1", "failed"),)}, "failed", "0 of 1 node proved; 1 failed."),
        ({"findings": (LIMIT,)}, "failed", "8 of 8 nodes proved; 1 finding."),
        ({"findings": (replace(LIMIT, warning=True),)}, "passed", "8 of 8 nodes proved; 1 warning."),
        ({"nodes": ()}, "incomplete", "0 of 0 nodes proved."),
        ({"ended": "unknown"}, "passed", "8 of 8 nodes proved. 0.0 s."),
        ({"started": "2026-11-20T02:31:00Z"}, "passed", "8 of 8 nodes proved. 7 s."),
    ],
)
def test_the_first_line_is_the_verdict(changes: dict[str, object], word: str, part: str) -> None:
    result = replace(CLEAN, **changes)
    assert words.outcome(result) == word
    assert words.verdict(result).startswith(f"Proof of hgx: {word}. ")
    assert part in words.verdict(result)


def test_findings_that_differ_in_their_node_alone_are_one_and_warnings_come_last() -> None:
    second = replace(LIMIT, text="gpu011 gpu3: slow, not xgpu01 or gpu01-b", look="run gpu011", nodes=("gpu011",))
    cable = ProofFinding("fabric", "cable", "gpu01 rail2", "", ("gpu01",), (2,), ("leaf2",))
    found = words.folded([replace(LIMIT, warning=True), LIMIT, cable, second])
    assert [(it.place, it.finding.text, it.finding.look, it.finding.warning) for it in found] == [
        ("gpu[01,011]", "HOST gpu3: slow, not xgpu01 or gpu01-b", "run HOST", False),
        ("gpu01 rail 2", "gpu01 rail2", "", False),
        ("gpu01", LIMIT.text, "run gpu01", True),
    ]
    assert [it.placed for it in found] == [False, True, True]


@pytest.mark.parametrize(
    ("finding", "place"),
    [
        (ProofFinding("fabric", "path", "", "", leaves=("l1", "l2")), "l1 -> l2"),
        (ProofFinding("fabric", "leaf pair", "", "", leaves=("l1", "l2")), "l1, l2"),
        (ProofFinding("fabric", "swapped cables", "", "", ("a1",), (1, 2), ("l1", "l2")), "a1 rail 1, 2"),
        (ProofFinding("file systems", "limit", "", ""), ""),
    ],
)
def test_a_finding_has_its_place(finding: ProofFinding, place: str) -> None:
    assert words.place(finding) == place


def test_a_value_never_looks_equal_to_the_limit_that_it_misses() -> None:
    assert words.value(measure(380.432)) == "380.43 Gb/s"
    assert words.value(measure(380.432, passed=True)) == "380.4 Gb/s"
    assert words.value(measure(200, None)) == "200 Gb/s"
    assert words.bound(380.44, True, "Gb/s") == "at least 380.4 Gb/s"
    assert (words.bound(5, False, "us"), words.bound(None, True, "us")) == ("at most 5 us", "no limit")


def test_many_nodes_are_a_hostlist_and_a_long_one_is_cut() -> None:
    many = replace(measure(1), nodes=("a3", "a1", "a2"))
    assert (words.where(many), words.where(measure(1))) == ("a[1-3] rail 3", "a -> b")
    assert words.hosts(f"a{number}" for number in range(0, 99, 2)).startswith("50 nodes: a[0,2,4,")
    assert len(words.hosts(f"a{number}" for number in range(0, 99, 2))) < words.LONGEST + 20


def test_nodes_with_the_same_reason_are_one_line() -> None:
    nodes = [NodeVerdict(f"a{it}", "h100", "su1", "skipped", (f"a{it} is drained",)) for it in (1, 2)]
    assert words.by_reason(nodes, "skipped") == [("skipped", "HOST is drained", ["a1", "a2"])]
    assert words.by_reason(nodes[:1], "skipped") == [("skipped", "a1 is drained", ["a1"])]
    assert words.by_reason(nodes, "failed") == []
