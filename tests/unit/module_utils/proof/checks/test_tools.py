# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.tools import (
    absent,
    of_all_gpus,
    program,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure, Missing
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode

NODE = ProofNode("gpu01", "h100", gpus=2)


def test_a_program_sees_no_variable_of_its_job() -> None:
    it = program(("env",), 5, variables={"NCCL_DEBUG": "INFO"})
    caller = {"PATH": "/usr/bin:/bin", "SLURM_PROCID": "1"}
    shown = subprocess.run(it.argv, env=caller, capture_output=True, text=True, check=True).stdout
    assert {line.partition("=")[0] for line in shown.splitlines()} == {"PATH", "HOME", "LC_ALL", "NCCL_DEBUG"}
    missing = subprocess.run(program(("no-such-tool",), 5).argv, capture_output=True)
    assert missing.returncode == 127


def test_an_absent_tool_is_one_warning_of_a_class() -> None:
    [one] = absent(NODE, "gemm", "it is not measured")
    assert (one.name, one.where) == ("not measured", "class h100") and getattr(one, "warning", False)
    assert [one] == absent(ProofNode("gpu02", "h100"), "gemm", "it is not measured")


def test_a_gpu_that_a_tool_did_not_measure_is_missing() -> None:
    rate = Measure("GEMM", 700, "TFLOPS", "gpu01 GPU 0")
    found = of_all_gpus(NODE, [rate], ["GEMM"])
    assert found[0] == rate and [(it.name, it.where) for it in found[1:]] == [("GEMM", "gpu01 GPU 1")]
    failed = Missing("GEMM", "gpu01", "it hung")
    assert of_all_gpus(NODE, [failed], ["GEMM"]) == [failed]
