# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools that measure one node alone: nvbandwidth -j, a GEMM of each GPU, and STREAM.

nvbandwidth: texts of 0.8 (json_output.cpp, testcases_ce.cpp). STREAM: those of 5.10. The GEMM is a program of the site.
Rates are those of an H100 SXM server; planted faults lower them. A fault's effect `lie` is a test that was waived.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from ..common import DIE, EFFECTS, LIE, REFUSE, Call, Killed
from ..nodes.nvidia_smi import BUSES, DRIVER, NAME
from . import node

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TO_HOST, TO_GPU, LOCAL = 55.2, 55.4, 1460.0
"""GB/s of copies over PCIe Gen5 x16, each way, and within a GPU's memory, which reads and writes as much."""
NVLINK_COPY = 392.0
GEMM_TFLOPS = 760.0
TRIAD_MB_S = 241000.0
"""STREAM's triad on one socket with eight channels of DDR5."""
LINE = "-" * 61
NO_GPUS = "[cuInit(0)] CUDA_ERROR_NO_DEVICE in expression cuInit(0)"


def main(call: Call) -> int:
    """Run a tool and return its exit code."""
    effect = call.fault(writes=False, among=EFFECTS)
    code, lines = {"nvbandwidth": _copies, "gemm": _gemm, "stream": _stream}[call.tool](call.argv, effect)
    if effect == DIE:
        print(*lines[: len(lines) // 2], sep="\n")
        sys.stdout.flush()
        raise Killed
    print(*lines, sep="\n")
    return code


def _gpu(index: int) -> dict[str, Any]:
    return node.planted().get("gpus", {}).get(str(index), {})


def _speed(index: int) -> float:
    return _gpu(index).get("percent", 100) / 100


def _pcie(index: int) -> float:
    generation, width = _gpu(index).get("pcie", (5, 16))
    return 2.0 ** (generation - 5) * width / 16 * _speed(index)


def _between(row: int, column: int) -> float:
    links = 18 - max(_gpu(at).get("links_down", 0) for at in (row, column))
    return NVLINK_COPY * links / 18 * min(_speed(row), _speed(column))


CPU = "memcpy CE CPU(row) {} GPU(column) bandwidth (GB/s)"
EACH: dict[str, tuple[str, Callable[[int], float]]] = {
    "host_to_device_memcpy_ce": (CPU.format("->"), lambda gpu: TO_GPU * _pcie(gpu)),
    "device_to_host_memcpy_ce": (CPU.format("<-"), lambda gpu: TO_HOST * _pcie(gpu)),
    "device_local_copy": ("memcpy local GPU(column) bandwidth (GB/s)", lambda gpu: LOCAL * _speed(gpu)),
}
PAIRS = {
    "device_to_device_memcpy_read_ce": "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)",
    "device_to_device_memcpy_write_ce": "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)",
}


def _copies(argv: list[str], effect: str | None) -> tuple[int, list[str]]:
    gpus, host = node.gpus(), node.hostname()
    shown: dict[str, Any] = {"CUDA Runtime Version": 12080, "Driver Version": DRIVER}
    shown["GPU Device list"] = [f"{gpu}: {NAME} (00000000:{BUSES[gpu].lower()}:00): ({host})" for gpu in gpus]
    if effect == REFUSE or not gpus:
        shown = {"error": NO_GPUS}
    else:
        shown["testcases"] = [_case(name, gpus, waived=effect == LIE) for name in _asked(argv)]
    document = {"nvbandwidth": {**shown, "git_version": "v0.8", "version": "v0.8"}}
    return int("error" in shown), [*json.dumps(document, indent=3, sort_keys=True).split("\n"), ""]


def _asked(argv: list[str]) -> list[str]:
    """Return the tests of -t, which takes several names."""
    found, taking = [], False
    for word in argv:
        if word.startswith("-"):
            taking = word in ("-t", "--testcase")
        elif taking:
            found.append(word)
    return found or [*EACH, *PAIRS]


def _case(name: str, gpus: Sequence[int], *, waived: bool) -> dict[str, Any]:
    if name not in EACH and name not in PAIRS:
        return {"name": name, "status": "ERROR"}
    if waived or (name in PAIRS and len(gpus) < 2):
        return {"name": name, "status": "Waived"}
    if name in EACH:
        words, rate = EACH[name]
        rows = [[node.noisy(rate(gpu), name, gpu) for gpu in gpus]]
    else:
        words = PAIRS[name]
        rows = [[0 if row == it else node.noisy(_between(row, it), name, row, it) for it in gpus] for row in gpus]
    matrix = [[f"{cell:g}" if cell else "N/A" for cell in row] for row in rows]
    about = {"bandwidth_description": words, "bandwidth_matrix": matrix, "sum": sum(map(sum, rows))}
    return {"name": name, "status": "Passed", **about}


def _gemm(argv: list[str], effect: str | None) -> tuple[int, list[str]]:
    gpus = node.gpus()
    if effect == REFUSE or not gpus:
        print("gemm: no CUDA-capable device is detected", file=sys.stderr)
        return 1, []
    if effect == LIE:
        return 0, []
    return 0, [f"GPU {gpu}: {node.noisy(GEMM_TFLOPS * _speed(gpu), 'gemm', gpu):.1f} TFLOPS" for gpu in gpus]


def _stream(argv: list[str], effect: str | None) -> tuple[int, list[str]]:
    triad = node.noisy(2 * TRIAD_MB_S * node.planted().get("memory_percent", 100) / 100, "stream")
    lines = [LINE, "STREAM version $Revision: 5.10 $", LINE, "This system uses 8 bytes per array element.", LINE]
    lines += ["Array size = 536870912 (elements), Offset = 0 (elements)", LINE]
    lines += ["Function    Best Rate MB/s  Avg time     Min time     Max time"]
    for name, factor, arrays in (("Copy", 0.93, 2), ("Scale", 0.92, 2), ("Add", 0.99, 3), ("Triad", 1.0, 3)):
        rate = triad * factor
        least = 536870912 * 8 * arrays / rate / 1e6
        lines.append(f"{name + ':':<12}{rate:11.1f}  {least * 1.01:11.6f}  {least:11.6f}  {least * 1.03:11.6f}")
    valid = "Solution Validates: avg error less than 1.000000e-13 on all three arrays"
    wrong = "Failed Validation on array a[], AvgRelAbsErr > epsilon (1.000000e-13)"
    return 0, [*lines, LINE, wrong if effect == REFUSE else valid, LINE]
