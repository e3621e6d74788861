# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.judge import judge_all
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.load_gpus import GPU_CHECKS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Found, Measure
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail

from tests.unit.module_utils.proof.transcripts import changed, near, printed

CHECKS = {check.name: check for check in GPU_CHECKS}
TOOLS = {"nvbandwidth": "/opt/nvb", "gemm": "/opt/gemm", "nccl_tests": "/opt/nccl", "dcgmi": "/usr/bin/dcgmi"}
RAIL = ProofRail("rail0", "mlx5_0", 400)
NODE = ProofNode(
    "gpu01", "h100", (RAIL,), gpus=2, gpu_vendor="nvidia", gpu_product="NVIDIA H100 80GB HBM3", tools=TOOLS
)
EIGHT = replace(NODE, gpus=8)
TABLE = changed(printed("all_reduce"), "364.89", "470.11").replace("364.99", "470.31")
SLOW = changed(printed("all_reduce"), "364.89", "240.11").replace("364.99", "240.31")
INFO = printed("nccl_info")
OFF = changed(INFO, "16 nvls channels", "0 nvls channels")
SOCKETS = changed(INFO, "Using network IB", "Using network Socket")


def found(check: str, stdout: str = "", code: int = 0, node: ProofNode = NODE) -> list[Found]:
    return CHECKS[check].found(node, [Output(stdout, "", code)], {})


def said(check: str, stdout: str, code: int = 0, node: ProofNode = NODE) -> list[tuple[str, bool]]:
    """Kinds with texts, and whether they only warn."""
    _measures, findings = judge_all(node, CHECKS[check], found(check, stdout, code, node))
    return [(f"{it.kind} {it.text}", it.warning) for it in findings]


def test_commands() -> None:
    plain = {name: it.argv[it.argv.index("LC_ALL=C") + 1 :] for name in CHECKS for it in CHECKS[name].programs(NODE)}
    assert plain["GPU copies"] == ("/opt/nvb", "-j", "-t", "host_to_device_memcpy_ce", "device_to_host_memcpy_ce")
    assert plain["GPU memory"] == ("/opt/nvb", "-j", "-b", "2048", "-t", "device_local_copy")
    assert plain["GEMM"] == ("/opt/gemm",)
    assert plain["DCGM diagnostics"] == ("/usr/bin/dcgmi", "diag", "-r", "2", "-j")
    settings, command = plain["GPU links"][:2], plain["GPU links"][2:]
    assert settings == ("NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=INIT,NET")
    assert " ".join(command) == "/opt/nccl/all_reduce_perf -b 4G -e 4G -g 2 -n 20 -w 5"


@pytest.mark.parametrize("check", CHECKS)
def test_a_tool_that_the_intent_lacks_is_one_warning_of_the_class(check: str) -> None:
    bare = replace(NODE, tools={})
    assert CHECKS[check].applies(bare) and not CHECKS[check].programs(bare)
    _none, [finding] = judge_all(bare, CHECKS[check], CHECKS[check].found(bare, [], {}))
    assert finding.warning and finding.nodes == () and finding.text.startswith("class h100: not measured: drawbridge_")


@pytest.mark.parametrize("check", CHECKS)
def test_divided_gpus_are_not_measured_and_the_report_says_so(check: str) -> None:
    """A program would see one instance, and one rank for each GPU would ask for GPUs that the node does not have."""
    divided = replace(NODE, instances=14)
    assert CHECKS[check].applies(divided) and not CHECKS[check].programs(divided)
    _none, [finding] = judge_all(divided, CHECKS[check], CHECKS[check].found(divided, [], {}))
    assert finding.warning and finding.nodes == ()
    assert finding.text.startswith("class h100: not measured: its GPUs are divided, so ")
    assert finding.text.endswith(": prove nodes before you divide their GPUs")


@pytest.mark.parametrize(
    ("vendor", "gpus", "product", "names"),
    [
        ("", 0, "", set()),
        ("amd", 8, "AMD Instinct MI300X", {"GEMM", "GPU links"}),
        ("nvidia", 1, "", CHECKS.keys() - {"GPU links"}),
        ("nvidia", 8, "NVIDIA L40S", CHECKS.keys() - {"GPU links"}),
        ("nvidia", 8, "", CHECKS.keys()),
    ],
)
def test_where_a_check_applies(vendor: str, gpus: int, product: str, names: set[str]) -> None:
    node = ProofNode("gpu01", "x", gpus=gpus, gpu_vendor=vendor, gpu_product=product)
    assert {name for name, check in CHECKS.items() if check.applies(node)} == names


def test_a_slow_pcie_link_fails_by_the_models_link_and_not_by_its_own() -> None:
    both = json.loads(printed("nvbandwidth"))
    back = {
        **both["nvbandwidth"]["testcases"][0],
        "name": "device_to_host_memcpy_ce",
        "bandwidth_matrix": [["50", "51"]],
    }
    both["nvbandwidth"]["testcases"].append(back)
    [(text, warning)] = said("GPU copies", json.dumps(both))
    assert text.startswith("limit gpu01 GPU 1: copy to GPU is 27.6 GB/s, below 46.1 GB/s (0.80 x") and not warning
    assert "PCIe Gen5 x16" in text
    # a waived or forgotten test is no pass, and neither is a GPU that is not there
    lone = said("GPU copies", printed("nvbandwidth"), node=replace(NODE, gpus=3))
    assert lone[0][0] == "missing gpu01: copy from GPU was not measured: nvbandwidth did not run it"
    assert lone[1][0].startswith("missing gpu01 GPU 2: copy to GPU was not measured: the tool did not measure this GPU")


def test_nvbandwidth_counts_a_copied_byte_once() -> None:
    """Its 1,519 GB/s on an H100 are 3,038 of the datasheet's 3,350."""
    case = {"name": "device_local_copy", "status": "Passed", "bandwidth_matrix": [["1519.07", "1100.2"]]}
    case["bandwidth_description"] = "memcpy local GPU(column) bandwidth (GB/s)"
    text = json.dumps({"nvbandwidth": {"testcases": [case]}})
    assert found("GPU memory", text)[0] == Measure("GPU memory", near(3038.14), "GB/s", "gpu01 GPU 0")
    [(slow, _), *_rest] = said("GPU memory", text)
    assert slow.startswith("limit gpu01 GPU 1: GPU memory is 2200.4 GB/s, below 2512.5 GB/s")
    assert said("GPU memory", printed("nvbandwidth"))[0][0].endswith("the test failed")


def test_a_throttled_gpu_is_named() -> None:
    lines = [f"GPU {gpu}: {rate} TFLOPS\n" for gpu, rate in enumerate([780, 781, 779, 500, 780, 735, 782, 780])]
    [(slow, fails), (slower, warns)] = said("GEMM", "".join(lines), node=EIGHT)
    assert slow.startswith("limit gpu01 GPU 3: GEMM is 500 TFLOPS, below 714.6 TFLOPS") and not fails
    assert slower == (
        "remark gpu01 GPU 5: GEMM is 735 TFLOPS, 5.8 % below the median of the other 7 in the node, 780 TFLOPS"
    )
    assert warns


def test_links_with_nvls() -> None:
    assert found("GPU links", INFO + TABLE, node=EIGHT) == [
        Measure("node bus bandwidth", near(470.21), "GB/s", "gpu01")
    ]
    assert said("GPU links", INFO + TABLE, node=EIGHT) == []
    [(slow, _)] = said("GPU links", INFO + SLOW, node=EIGHT)
    assert slow.startswith("limit gpu01: node bus bandwidth is 240.2 GB/s, below 405 GB/s")


def test_lost_nvls_is_a_finding_of_its_own_and_no_slow_link() -> None:
    [(text, fails)] = said("GPU links", OFF + printed("all_reduce"), node=EIGHT)
    assert text.startswith("remark gpu01: NVLS inactive: 0 NVLS channels") and not fails
    _lost, slow = said("GPU links", OFF + SLOW, node=EIGHT)
    assert slow[0].startswith("limit gpu01: node bus bandwidth without NVLS is 240.2 GB/s, below 315.9 GB/s")
    # with two GPUs, and on an A100, NCCL adds up nothing in the switch
    for node in (NODE, replace(EIGHT, gpu_product="NVIDIA A100-SXM4-80GB")):
        assert said("GPU links", OFF + printed("all_reduce"), node=node) == []


def test_paths_of_nccl() -> None:
    [(sockets, fails)] = said("GPU links", SOCKETS + TABLE, node=EIGHT)
    assert sockets.startswith("remark gpu01: NCCL over TCP sockets") and not fails
    assert said("GPU links", SOCKETS + TABLE, node=replace(EIGHT, rails=())) == []
    [(silent, _)] = said("GPU links", TABLE, node=EIGHT)
    assert silent.startswith("missing gpu01: NCCL paths was not measured")
    amd = replace(EIGHT, gpu_vendor="amd", gpu_product="AMD Instinct MI300X")
    assert said("GPU links", printed("rccl_all_reduce").replace("FAILED", ""), node=amd) == []


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        (INFO, 124, "it hung"),
        (INFO, 3, "not recognised"),
        (INFO + "gpu01: Test NCCL failure common.cu:1234 'unhandled system error'\n", 3, "NCCL failed"),
        (INFO + changed(TABLE, "values : 0 OK", "values : 7 FAILED"), 0, "wrong results: 7"),
    ],
)
def test_a_run_of_nccl_without_a_result_is_one_finding(text: str, code: int, why: str) -> None:
    [(only, _)] = said("GPU links", text, code, EIGHT)
    assert only.startswith("missing gpu01: node bus bandwidth") and why in only


def test_dcgm() -> None:
    assert said("DCGM diagnostics", printed("dcgm_diag")) == []
    [(text, fails)] = said("DCGM diagnostics", printed("dcgm_diag"), 226)
    assert text.startswith("missing gpu01: DCGM was not measured: a test failed") and not fails
