# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Missing,
    Remark,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import dcgm_text

from tests.unit.module_utils.proof.transcripts import printed

PASSED = printed("dcgm_diag")
ECC = {"warning": "Uncorrectable ECC error", "error_id": 12, "error_category": 4, "error_severity": 2}
PERSISTENCE = {"warning": "Persistence mode for GPU 1 is disabled.", "error_id": 29, "error_severity": 5}


def found(text: str, code: int = 0, stderr: str = "") -> list[Found]:
    return dcgm_text.remarks(text, stderr, code, "gpu01")


def run(*results: dict[str, Any], key: str = "DCGM Diagnostic", summary: str = "") -> str:
    test = {"name": "memory", "results": results, **({"test_summary": {"status": summary}} if summary else {})}
    return json.dumps({key: {"test_categories": [{"category": "Hardware", "tests": [test]}]}})


def gpu(status: str, *warnings: object, number: int = 3) -> dict[str, Any]:
    return {"entity_group": "GPU", "entity_id": number, "status": status, "warnings": list(warnings)}


def test_a_run_that_passed_finds_nothing() -> None:
    assert found(PASSED) == found(f"Successfully connected.\n{PASSED}") == []


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (gpu("Fail", ECC), "Uncorrectable ECC error (DCGM asks to isolate it)"),
        (gpu("Fail", PERSISTENCE, "two"), "Persistence mode for GPU 1 is disabled. (a setting of the node); two"),
        (gpu("Fail"), "DCGM gave no reason"),
        # DCGM 3
        ({"gpu_ids": "3", "status": "FAIL", "warnings": "too hot"}, "too hot"),
        ({"gpu_id": 3, "status": "Fail", "info": ["see the log"]}, "see the log"),
    ],
)
def test_a_failed_test_names_the_gpu(result: dict[str, Any], why: str) -> None:
    for key in ("DCGM Diagnostic", "DCGM GPU Diagnostic"):
        text = run(gpu("Pass", number=0), result, key=key, summary="Fail")
        assert found(text, 226) == found(text, 205) == found(text) == [Remark("DCGM memory", "gpu01 GPU 3", why)]


def test_what_only_warns() -> None:
    hot = gpu("Warn", "85 degrees")
    assert found(run(hot)) == [Remark("DCGM memory", "gpu01 GPU 3", "85 degrees", warning=True)]
    both = json.loads(PASSED)
    both["DCGM Diagnostic"]["test_categories"] += json.loads(run(gpu("Skip")))["DCGM Diagnostic"]["test_categories"]
    why = "no GPU ran it: DCGM skipped it"
    assert found(json.dumps(both)) == [Remark("DCGM memory", "gpu01", why, warning=True)]


def test_a_summary_that_failed_without_a_gpu() -> None:
    assert found(run(summary="Fail"), 226) == [Remark("DCGM memory", "gpu01", "DCGM gave no reason")]


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        (PASSED, 226, "a test failed (exit code 226), but its JSON names no failed test"),
        (PASSED, 205, "DCGM asks to isolate a GPU (exit code 205)"),
        (PASSED, 1, "dcgmi failed (exit code 1)"),
        (PASSED[:400], 0, "not recognised (exit code 0): {"),
        (PASSED, 124, "it hung"),
        ("", 127, "not installed"),
        (json.dumps({"DCGM Diagnostic": {"runtime_error": "no GPUs"}}), 226, "could not run it: no GPUs"),
        ("Cannot run diagnostic: MIG is enabled", 226, "not recognised (exit code 226): Cannot run diagnostic"),
        ("{}", 0, "the JSON has no tests (exit code 0)"),
        (run(gpu("Skip")), 0, "each test was skipped"),
        (run(), 0, "the test has no result"),
        (run(gpu("Pass"), gpu("Odd")), 0, "unknown status odd"),
        (run(gpu("Pass"), {"entity_id": 1}), 0, "unknown status (none)"),
    ],
)
def test_no_result_is_no_pass(text: str, code: int, why: str) -> None:
    [only] = found(text, code)
    assert isinstance(only, Missing) and why in only.why
