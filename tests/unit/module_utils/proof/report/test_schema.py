# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The result's JSON schema: it accepts what a proof writes, has each field, and marks wrong values."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof import result
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.report_io import as_json
from jsonschema import Draft202012Validator

from tests.unit.module_utils.proof.results import example

SCHEMA = json.loads((Path(__file__).parents[5] / "docs/proof.schema.json").read_text())
PARTS = {
    "node": result.NodeVerdict,
    "measure": result.Judged,
    "finding": result.ProofFinding,
    "fabric": result.FabricSummary,
}
WRONG: list[tuple[tuple[str | int, ...], Any]] = [
    (("schema",), 2),
    (("started",), "yesterday"),
    (("ended",), "2026-11-20T02:31:07+01:00"),
    (("extra",), 1),
    (("nodes", 0, "verdict"), "good"),
    (("measures", 0, "limit"), "380"),
    (("measures", 0, "rail"), -1),
    (("findings", 0, "kind"), "bad luck"),
    (("findings", 0, "rails"), ["3"]),
    (("leaves", "su1"), "leaf1"),
    (("fabric", "tests"), -1),
]


def marked(value: Any) -> list[str]:
    return [error.json_path for error in Draft202012Validator(SCHEMA).iter_errors(value)]


@pytest.mark.parametrize(("nodes", "faulty"), [(8, True), (128, True), (8, False)])
def test_a_result_is_accepted(nodes: int, faulty: bool) -> None:
    assert marked(json.loads(as_json(example(nodes, faulty=faulty)))) == []


def test_the_schema_is_valid_and_has_each_field() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for name, part in PARTS.items():
        fields = [field.name for field in dataclasses.fields(part)]
        assert [sorted(SCHEMA["$defs"][name][key]) for key in ("required", "properties")] == [sorted(fields)] * 2
    top = {"schema", "passed", *(field.name for field in dataclasses.fields(result.Result))}
    assert set(SCHEMA["properties"]) == set(SCHEMA["required"]) == top
    assert SCHEMA["properties"]["schema"]["const"] == result.SCHEMA


@pytest.mark.parametrize(("place", "value"), WRONG, ids=str)
def test_a_wrong_value_is_marked(place: tuple[str | int, ...], value: Any) -> None:
    wrong = copy.deepcopy(json.loads(as_json(example(8))))
    inner = wrong
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    assert len(marked(wrong)) == 1
