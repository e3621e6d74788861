# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import nvbandwidth_text

from tests.unit.module_utils.proof.transcripts import changed, near, printed

SHOWN = printed("nvbandwidth")
H2D, READ, BOTH = (
    "host_to_device_memcpy_ce",
    "device_to_device_memcpy_read_ce",
    "device_to_device_bidirectional_memcpy_read_ce",
)
LATENCY = "host_device_latency_sm"


def found(test: str, text: str = SHOWN, code: int = 0, stderr: str = "") -> list[Found]:
    return nvbandwidth_text.measures(text, stderr, code, "gpu01", [test])


def missing(test: str, text: str = SHOWN, code: int = 0, stderr: str = "") -> str:
    [only] = found(test, text, code, stderr)
    assert isinstance(only, Missing) and (only.name, only.where) == (test, "gpu01")
    return only.why


@pytest.mark.parametrize(
    ("test", "unit", "cells"),
    [
        (H2D, "GB/s", [(55.2041, "GPU 0"), (27.6102, "GPU 1")]),
        (READ, "GB/s", [(392.71, "GPU 0 -> GPU 1"), (392.684, "GPU 1 -> GPU 0")]),
        (BOTH, "GB/s", [(723.2, "GPU 0 <-> GPU 1"), (723.4, "GPU 1 <-> GPU 0")]),
        (LATENCY, "us", [(0.8125, "GPU 0"), (0.816, "GPU 1")]),
    ],
)
def test_each_cell_is_a_measure_of_its_gpus(test: str, unit: str, cells: list[tuple[float, str]]) -> None:
    """The diagonal is no measure, and of both directions only the total is."""
    assert found(test) == [Measure(test, near(value), unit, f"gpu01 {gpus}") for value, gpus in cells]


@pytest.mark.parametrize("cell", ["N/A", "0", ""])
def test_a_cell_without_a_value_is_missing(cell: str) -> None:
    for test, old, where in ((H2D, "27.6102", "gpu01 GPU 1"), (READ, "392.71", "gpu01 GPU 0 -> GPU 1")):
        cells = found(test, changed(SHOWN, f'"{old}"', f'"{cell}"'))
        assert [one.where for one in cells if isinstance(one, Missing)] == [where] and len(cells) == 2


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("multinode_device_to_device_memcpy_read_ce", "cannot run"),
        ("device_local_copy", "the test failed"),
        ("no_such_test", "does not know"),
        ("never_asked_for", "did not run it"),
    ],
)
def test_a_test_that_did_not_pass_is_missing_with_exit_code_0(test: str, why: str) -> None:
    assert why in missing(test)


@pytest.mark.parametrize(
    ("status", "why"), [("Not Found", "does not know"), ("Running", "did not end"), ("New", "unknown status New")]
)
def test_other_states(status: str, why: str) -> None:
    assert why in missing(
        H2D, changed(SHOWN, f'"{H2D}",\n            "status" : "Passed"', f'"{H2D}", "status" : "{status}"')
    )


def test_an_error_of_cuda_is_quoted() -> None:
    shown = {"nvbandwidth": {"error": "[CUDA_ERROR_NO_DEVICE] no CUDA-capable device is detected"}}
    assert "NO_DEVICE" in missing(H2D, json.dumps(shown), 1)
    assert "later step failed (exit code 1)" in missing(H2D, SHOWN, 1) and "hung" in missing(H2D, SHOWN, 124)


def test_text_of_another_form() -> None:
    assert missing(H2D, "nvbandwidth Version: v0.8\n") == "not recognised (exit code 0): nvbandwidth Version: v0.8"
    assert "no unit" in missing(H2D, changed(SHOWN, "(GB/s)", "(GiB/s)"))
    for matrix in ('"x"', "null", '["55"]'):
        assert "no matrix" in missing(H2D, changed(SHOWN, '[ [ "55.2041", "27.6102" ] ]', matrix))
    for matrix in ("[]", "[[]]"):
        assert "empty matrix" in missing(H2D, changed(SHOWN, '[ [ "55.2041", "27.6102" ] ]', matrix))
        assert "empty matrix" in missing(READ, changed(SHOWN, '[ [ "N/A", "392.71" ], [ "392.684", "N/A" ] ]', matrix))
