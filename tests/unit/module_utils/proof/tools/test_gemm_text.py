# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure, Missing
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import gemm_text

PRINTED = "warm-up\nGPU 0: 740.1 TFLOPS\nGPU 1: 512.7 TFLOPS (throttled)\nGPU 10: 738 TFLOPS\n"


def test_each_gpu_has_its_line() -> None:
    rates = {0: 740.1, 1: 512.7, 10: 738.0}
    assert gemm_text.measures(PRINTED, "", 0, "gpu01") == [
        Measure("GEMM", rate, "TFLOPS", f"gpu01 GPU {gpu}") for gpu, rate in rates.items()
    ]


def test_the_last_line_of_a_gpu_counts_and_a_value_that_is_none_is_missing() -> None:
    found = gemm_text.measures(f"{PRINTED}GPU 0: 700 TFLOPS\nGPU 1: nan TFLOPS\n", "", 0, "gpu01")
    assert found[0] == Measure("GEMM", 700, "TFLOPS", "gpu01 GPU 0")
    assert found[1] == Missing("GEMM", "gpu01 GPU 1", "the tool printed nan as the value")


@pytest.mark.parametrize(
    ("stdout", "code", "why"),
    [
        (PRINTED, 1, "exit code 1; last line: GPU 10: 738 TFLOPS"),
        (PRINTED, 124, "it hung"),
        (PRINTED, -9, "signal 9"),
        ("", 127, "not installed"),
        ("", 0, "not recognised (exit code 0): no output"),
        ("GPU 0: 740.1 GFLOPS\n", 0, "not recognised (exit code 0): GPU 0: 740.1 GFLOPS"),
    ],
)
def test_a_run_without_a_result(stdout: str, code: int, why: str) -> None:
    [only] = gemm_text.measures(stdout, "", code, "gpu01")
    assert isinstance(only, Missing) and only.where == "gpu01" and why in only.why
