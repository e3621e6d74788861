# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit import Visited
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_report import Place, report

QUIET: dict[str, Any] = {"changed": False, "steps": [], "pending": []}
DIFF = {"before": "off\n", "after": "on\n"}
LOUD: dict[str, Any] = {"changed": True, "steps": ["turn on"], "pending": [], "diff": DIFF, "warnings": ["hot"]}
BROKEN: dict[str, Any] = {"changed": False, "failed": True, "msg": "it is broken", "rc": 3}
LAMP, HORN, BELL = Place("lights", "Turn on the lamp"), Place("horn", "Blow"), Place("bell", "Ring")


def test_a_node_that_needs_nothing_says_nothing() -> None:
    assert report([(LAMP, Visited("done", QUIET))]) == {"changed": False, "layers": [], "warnings": [], "diff": []}


def test_each_layer_speaks_for_itself() -> None:
    found = report([(LAMP, Visited("done", LOUD)), (HORN, Visited("done", QUIET))])
    assert found["layers"] == [
        {"role": "lights", "task": "Turn on the lamp", "state": "done", "changed": True, "steps": ["turn on"]}
    ]
    assert (found["changed"], found["diff"], found["warnings"]) == (True, [DIFF], ["hot"])


def test_a_failure_names_layer_cause_and_what_it_stopped() -> None:
    found = report([(LAMP, Visited("done", LOUD)), (HORN, Visited("failed", BROKEN)), (BELL, Visited("stopped"))])
    assert found["failed"] and found["changed"]
    assert found["msg"] == "horn: Blow: it is broken\nnot done, because it needs that: bell: Ring"
    assert [layer["state"] for layer in found["layers"]] == ["done", "failed", "stopped"]
    assert found["layers"][1]["rc"] == 3


@pytest.mark.parametrize(
    ("state", "result", "proved"),
    [
        ("done", QUIET, True),
        ("done", LOUD, True),
        ("done", {**QUIET, "pending": ["let it take jobs: it is drained"]}, False),
        ("failed", BROKEN, False),
        ("stopped", {}, False),
    ],
)
def test_a_node_is_proved_ready_by_its_proof_alone(state: str, result: dict[str, Any], proved: bool) -> None:
    proof = Place("slurm_node", "Prove that the node is ready for jobs", proves=True)
    found = report([(LAMP, Visited("done", LOUD)), (proof, Visited(state, result))])
    assert found.get("proved", False) is proved


def test_what_waits_is_reported() -> None:
    waiting = {**QUIET, "pending": ["turn on: job 7 is here"]}
    [layer] = report([(LAMP, Visited("done", waiting))])["layers"]
    assert layer["pending"] == ["turn on: job 7 is here"]
