# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.bundle import (
    FACTS,
    of_proof,
    texts,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.history import Entry

RESULT: dict[str, Any] = {
    "release": "1",
    "cluster": "hpc",
    "started": "a",
    "ended": "b",
    "complete": True,
    "nodes": [{"name": "n1", "verdict": "failed"}, {"name": "n2", "verdict": "proved"}],
    "measures": [{"name": "x", "nodes": ["n1"]}, {"name": "y", "nodes": ["n2"]}],
    "findings": [{"text": "cable", "nodes": ["n2", "n1"]}],
}


def test_a_bundle_has_all_that_the_controller_knows() -> None:
    entries = [Entry(1, "n1", "found", "a"), Entry(2, "n2", "found", "b")]
    found = texts("n1", "NodeName=n1\n", ["n1: lost"], entries, of_proof(RESULT, "n1"), "serial 7\n")
    assert [*found] == ["README.txt", "findings.txt", "history.jsonl", "slurm.txt", "proof.json", FACTS]
    assert found["history.jsonl"] == f"{entries[0].line()}\n"
    assert json.loads(found["proof.json"])["verdict"] == {"name": "n1", "verdict": "failed"}
    assert FACTS in found["README.txt"]


def test_parts_that_do_not_exist_are_left_out() -> None:
    found = texts("n1", "x", [], [], None, "")
    assert [*found] == ["README.txt", "slurm.txt"]
    assert FACTS not in found["README.txt"]


def test_no_secret_and_no_control_character_is_in_it() -> None:
    found = texts("n1", "x", ["password=abc123 \x1b[2J"], [Entry(1, "n1", "found", "token: xyz")], None, "api_key=q")
    text = "".join(found.values())
    assert not any(word in text for word in ("abc123", "xyz", "=q", "\x1b"))
    assert text.count("<hidden>") == 4, "once in the README"


def test_the_nodes_part_of_a_proof() -> None:
    found = of_proof(RESULT, "n1")
    assert found is not None
    assert ([it["name"] for it in found["measures"]], [it["text"] for it in found["findings"]]) == (["x"], ["cable"])
    assert (of_proof(RESULT, "n3"), of_proof({}, "n1")) == (None, None)
