# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import (
    FAILED,
    PROVED,
    SKIPPED,
    UNKNOWN,
    NodeVerdict,
    ProofFinding,
    Result,
)

from tests.unit.module_utils.proof.results import example

NODE = NodeVerdict("n1", "big", "u0", PROVED)
WARNING = ProofFinding("c", "remark", "text", "look", warning=True)
SOUND = Result("2.0.0", "lab", "a", "b", True, (NODE,), findings=(WARNING,))


@pytest.mark.parametrize("nodes", [8, 40])
def test_a_result_survives_json(nodes: int) -> None:
    result = example(nodes, per_unit=8)
    assert Result.from_json(json.loads(json.dumps(result.to_json()))) == result


@pytest.mark.parametrize("schema", [0, None, "1"])
def test_json_of_another_schema_is_refused(schema: Any) -> None:
    with pytest.raises(ValueError, match="has the schema"):
        Result.from_json({**SOUND.to_json(), "schema": schema})


@pytest.mark.parametrize(
    ("change", "passed"),
    [
        ({}, True),
        ({"complete": False}, False),
        ({"nodes": ()}, False),
        *(({"nodes": (NODE, replace(NODE, verdict=it))}, False) for it in (FAILED, SKIPPED, UNKNOWN)),
        ({"findings": (WARNING, replace(WARNING, warning=False))}, False),
    ],
)
def test_a_proof_passes_if_all_nodes_are_proved_and_findings_only_warn(change: dict[str, Any], passed: bool) -> None:
    found = replace(SOUND, **change)
    assert (found.passed, found.to_json()["passed"]) == (passed, passed)
