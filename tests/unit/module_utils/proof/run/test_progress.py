# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Judged, ProofFinding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.progress import (
    MOST_AGE,
    Progress,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.settings import Settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.search import Search

from .pretended import START, settings

NAMES = [f"n{number:05}" for number in range(4)]
SLOW = Judged("c", "rate", "n00000", 5.0, "GB/s", 9.0, True, "why", False, ("n00000",), 1)
BROKEN = ProofFinding("c", "limit", "n00001 is slow", "look", ("n00001",), (1,), evidence=("line",))
OWN = settings(4, per_unit=2)


def progress(names: list[str] = NAMES, own: Settings = OWN, **fields: Any) -> Progress:
    return Progress(own.digest, START.isoformat(), names, {}, **{"complete": True, **fields})


def searched(own: Settings = OWN, names: list[str] = NAMES, passed: bool = True) -> Search:
    search = Search(own.site(names))
    while tests := search.next_round():
        search.take(dict.fromkeys(tests, passed))
    return search


def verdicts(it: Progress, own: Settings = OWN) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {node.name: (node.verdict, node.why) for node in it.result(own, "2.0.0", "end").nodes}


@pytest.mark.parametrize(("at_least", "worst"), [(True, 4.0), (False, 6.0)])
def test_the_worst_measure_of_a_place_is_kept(at_least: bool, worst: float) -> None:
    it = progress()
    it.note([replace(SLOW, value=value, at_least=at_least) for value in (5.0, 4.0, 6.0, 5.0)])
    it.note([replace(SLOW, where="n00001")])
    assert [found.value for found in it.measures.values()] == [worst, 5.0]


def test_a_finding_is_kept_once_and_blames_its_nodes() -> None:
    it = progress()
    it.add([BROKEN, replace(BROKEN, nodes=("n00002",), warning=True), BROKEN])
    it.add([BROKEN])
    assert (len(it.findings), it.failed) == (2, {"n00001": ["n00001 is slow"]})


def test_a_node_is_proved_if_no_finding_blames_it_and_a_test_with_it_passed() -> None:
    it = progress(findings=[BROKEN], search=searched())
    it.skipped = {"n00009": "job 1 runs on it"}
    assert verdicts(it) == {
        **dict.fromkeys(("n00000", "n00002", "n00003"), ("proved", ())),
        "n00001": ("failed", ("n00001 is slow",)),
        "n00009": ("skipped", ("job 1 runs on it",)),
    }
    result = it.result(OWN, "2.0.0", "end")
    assert (result.fabric.ports_passed, result.fabric.ports, result.cluster) == (8, 8, "lab")
    assert result.leaves == {"u0": ["u0r0", "u0r1"], "u1": ["u1r0", "u1r1"]}


def test_before_its_end_a_node_without_a_fault_is_unknown() -> None:
    found = verdicts(progress(findings=[BROKEN], complete=False))
    assert (found["n00000"], found["n00001"][0]) == (("unknown", ("the proof was interrupted",)), "failed")


def test_nodes_that_no_passing_test_met_are_unknown() -> None:
    search = Search(OWN.site(NAMES))
    assert {verdict for verdict, _why in verdicts(progress(search=search)).values()} == {"unknown"}


def test_nodes_of_a_leaf_that_failed_fail() -> None:
    leaf = ProofFinding("fabric", "leaf", "all ports of u1r0", "look", leaves=("u1r0",))
    found = verdicts(progress(findings=[leaf], search=searched()))
    assert found["n00002"] == found["n00003"] == ("failed", ("its leaf u1r0 failed",))
    uplinks = replace(leaf, kind="uplinks")
    assert verdicts(progress(findings=[uplinks], search=searched()))["n00002"][0] == "proved"


def test_the_only_node_of_a_site_with_rails_is_proved_without_a_test_of_the_fabric() -> None:
    unknown = ("unknown", ("no test of the fabric with it passed, or no other node was idle",))
    assert verdicts(progress(NAMES[:1], search=searched(names=NAMES[:1])))["n00000"] == unknown
    mixed = settings(4, per_unit=1)
    mixed.raw["classes"]["cpu"] = {**mixed.raw["classes"]["big"], "rails": [], "node_class": "cpu"}
    for part in mixed.raw["ranges"][1:]:
        part.update(node_class="cpu", leaves=[])
    alone = progress(own=mixed, search=searched(mixed))
    assert {verdict for verdict, _why in verdicts(alone, mixed).values()} == {"proved"}
    left = progress(NAMES[:2], findings=[BROKEN], search=searched(names=NAMES[:1]))
    assert verdicts(left)["n00000"] == unknown


def test_suspects_of_the_search_are_findings_and_fail_their_nodes() -> None:
    search = Search(OWN.site(NAMES))
    while tests := search.next_round():
        search.take({test: "n00003" not in test.nodes for test in tests})
    it = progress(search=search)
    it.note([replace(SLOW, nodes=("n00003",), value=1.0)])
    (found,) = it.suspects()
    assert found.nodes == ("n00003",) and "is 1 GB/s" in found.text
    assert verdicts(it)["n00003"] == ("failed", (found.text,))


def test_a_state_survives_json_at_any_round() -> None:
    it = progress(findings=[BROKEN], search=Search(OWN.site(NAMES)), depends={"n00000": {"kernel": "6"}})
    it.note([SLOW])
    it.resumed, it.stages = {"n00000": "drawbridge: proof: x"}, ["state of nodes"]
    assert it.search
    while True:
        again = Progress.from_json(json.loads(json.dumps(it.to_json())), OWN)
        assert again.to_json() == it.to_json()
        assert again.search
        tests = it.search.next_round()
        assert again.search.next_round() == tests
        if not tests:
            break
        it.search.take(dict.fromkeys(tests, True))
    assert again.result(OWN, "", "") == it.result(OWN, "", "")


@pytest.mark.parametrize("change", [{"findings": [{"check": "c"}]}, {"names": None}, {"search": {}}])
def test_a_state_of_another_release_is_refused(change: dict[str, Any]) -> None:
    data = {key: it for key, it in {**progress().to_json(), **change}.items() if it is not None}
    with pytest.raises((ValueError, KeyError, TypeError)):
        Progress.from_json(data, OWN)


@pytest.mark.parametrize(
    ("digest", "names", "age", "ended", "goes_on"),
    [
        ("same", NAMES[::-1], timedelta(0), False, True),
        ("other", NAMES, timedelta(0), False, False),
        ("same", NAMES[:3], timedelta(0), False, False),
        ("same", NAMES, MOST_AGE, False, False),
        ("same", NAMES, timedelta(0), True, False),
    ],
)
def test_a_run_goes_on_with_the_same_nodes_and_settings(
    digest: str, names: list[str], age: timedelta, ended: bool, goes_on: bool
) -> None:
    it = Progress("same", START.isoformat(), NAMES[:3], {NAMES[3]: "busy"}, ended=ended)
    assert it.goes_on(digest, names, START + age) is goes_on
