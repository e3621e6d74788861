# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Load checks of a node's GPUs: copies, memory, matrix multiplication, links between them, DCGM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import limits
from ..collectives import ALL_REDUCE, node_bus_bandwidth
from ..gpu_models import gpu_model
from ..limits import Derived
from ..measure import Found, Measure, Missing, Remark
from ..node import ProofNode
from ..tools import dcgm_text, gemm_text, nccl_info_text, nccl_text, nvbandwidth_text
from ..tools.nccl_info_text import NVLS_INACTIVE
from .check import LOAD, Check, Output, Program, Texts
from .tools import NOT_MEASURED, absent, of_all_gpus, program

NVIDIA = "nvidia"
COPIES = {"host_to_device_memcpy_ce": "copy to GPU", "device_to_host_memcpy_ce": "copy from GPU"}
MEMORY = {"device_local_copy": "GPU memory"}
"""Tests of nvbandwidth and the names of their measures."""
MEMORY_MIB = 2048
"""Smaller copies stay in part in the cache."""
LINKS, LINKS_WITHOUT_NVLS = "node bus bandwidth", "node bus bandwidth without NVLS"
ALL_REDUCE_SIZE = "4G"
"""At 1 GiB, a healthy node reaches 95 % of its rate."""
COPY_S, GEMM_S, LINKS_S, DCGM_S = 120, 240, 180, 420
"""Seconds after which a program is ended. `dcgmi diag -r 2` takes about two minutes."""


def _nvidia(node: ProofNode) -> bool:
    return node.gpus > 0 and node.gpu_vendor == NVIDIA


def _gpus(node: ProofNode) -> bool:
    return node.gpus > 0


def _several_gpus(node: ProofNode) -> bool:
    model = gpu_model(node.gpu_product)
    return node.gpus > 1 and (model is None or model.link > 0)


def _tool(node: ProofNode, name: str, arguments: Sequence[str], seconds: float) -> Sequence[Program]:
    path = node.tools.get(name)
    return [program([path, *arguments], seconds)] if path and not node.divided else []


def _unmeasured(node: ProofNode, tool: str, what: str) -> list[Found]:
    """A warning about a tool that did not run. A program sees one instance of a divided GPU, and no links."""
    if not node.divided:
        return absent(node, tool, what)
    why = f"its GPUs are divided, so {what}: prove nodes before you divide their GPUs"
    return [Remark(NOT_MEASURED, f"class {node.node_class}", why, warning=True)]


def _copy_programs(node: ProofNode) -> Sequence[Program]:
    return _tool(node, "nvbandwidth", ["-j", "-t", *COPIES], COPY_S)


def _copies(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    if not outputs:
        return _unmeasured(node, "nvbandwidth", "copies between hosts and GPUs are not measured")
    out = outputs[0]
    found = nvbandwidth_text.measures(out.stdout, out.stderr, out.code, node.name, list(COPIES))
    return of_all_gpus(node, [replace(it, name=COPIES[it.name]) for it in found], list(COPIES.values()))


def _memory_programs(node: ProofNode) -> Sequence[Program]:
    return _tool(node, "nvbandwidth", ["-j", "-b", str(MEMORY_MIB), "-t", *MEMORY], COPY_S)


def _memory(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    if not outputs:
        return _unmeasured(node, "nvbandwidth", "the memory of GPUs is not measured")
    out = outputs[0]
    found = nvbandwidth_text.measures(out.stdout, out.stderr, out.code, node.name, list(MEMORY))
    return of_all_gpus(node, [_read_and_written(it) for it in found], list(MEMORY.values()))


def _read_and_written(found: Found) -> Found:
    """nvbandwidth counts a copied byte once, but the memory reads it and writes it."""
    named = replace(found, name=MEMORY[found.name])
    return replace(named, value=2 * named.value) if isinstance(named, Measure) else named


def _gemm_programs(node: ProofNode) -> Sequence[Program]:
    return _tool(node, "gemm", [], GEMM_S)


def _gemm(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    if not outputs:
        return _unmeasured(node, "gemm", "the arithmetic of GPUs is not measured")
    out = outputs[0]
    found = gemm_text.measures(out.stdout, out.stderr, out.code, node.name)
    return of_all_gpus(node, found, [gemm_text.NAME])


def _link_programs(node: ProofNode) -> Sequence[Program]:
    folder = node.tools.get("nccl_tests")
    if not folder or node.divided:
        return []
    sizes = ("-b", ALL_REDUCE_SIZE, "-e", ALL_REDUCE_SIZE)
    argv = (f"{folder}/all_reduce_perf", *sizes, "-g", str(node.gpus), "-n", "20", "-w", "5")
    return [program(argv, LINKS_S, variables={"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"})]


def _links(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    if not outputs:
        return _unmeasured(node, "nccl_tests", "links between the GPUs of a node are not measured")
    out = outputs[0]
    found = nccl_text.measures(out.stdout, out.stderr, out.code, node.name, LINKS)
    # a warning of NCCL does not say that the run failed
    found = [replace(it, warning=True) if isinstance(it, Remark) else it for it in found]
    if any(isinstance(it, Missing) for it in found):
        return found
    paths = [it for it in nccl_info_text.remarks(out.stdout, [node.name]) if _can_have(node, it)]
    if not any(it.name == NVLS_INACTIVE for it in paths):
        return [*found, *paths]
    # the lost NVLS is the fault: the links are judged as those of a ring
    renamed = [replace(it, name=LINKS_WITHOUT_NVLS) if it.name == LINKS else it for it in found]
    return [*renamed, *paths]


def _can_have(node: ProofNode, found: Found) -> bool:
    """Whether NCCL's lines can be wrong like that on this hardware."""
    model = gpu_model(node.gpu_product)
    nvls = bool(model and model.has_nvls(node.gpus))
    if isinstance(found, Missing):
        # RCCL has other lines
        return node.gpu_vendor == NVIDIA and (nvls or bool(node.rails))
    return nvls if found.name == NVLS_INACTIVE else bool(node.rails)


def _link_limit(node: ProofNode, measure: Measure) -> Derived:
    return node_bus_bandwidth(ALL_REDUCE, node.gpus, node.gpu_product, nvls=measure.name == LINKS)


def _diag_programs(node: ProofNode) -> Sequence[Program]:
    return _tool(node, "dcgmi", ["diag", "-r", "2", "-j"], DCGM_S)


def _diag(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    if not outputs:
        return _unmeasured(node, "dcgmi", "the diagnostics of DCGM do not run")
    return dcgm_text.remarks(outputs[0].stdout, outputs[0].stderr, outputs[0].code, node.name)


GPU_CHECKS: tuple[Check, ...] = (
    Check(
        "GPU copies",
        LOAD,
        "The PCIe link between host and GPU is slow; look at its speed and width, then at IOMMU and NUMA node.",
        "Copies between host and GPU",
        _nvidia,
        _copies,
        _copy_programs,
        limit=lambda node, measure: limits.gpu_copy(node.gpu_product),
    ),
    Check(
        "GPU memory",
        LOAD,
        "The GPU's memory is slow; look at ECC errors, remapped rows and its memory clock.",
        "Memory of a GPU",
        _nvidia,
        _memory,
        _memory_programs,
        limit=lambda node, measure: limits.gpu_memory(node.gpu_product),
    ),
    Check(
        "GEMM",
        LOAD,
        "The GPU computes slowly, often because it throttles; look at its clocks, temperature and power limit.",
        "Matrix multiplication",
        _gpus,
        _gemm,
        _gemm_programs,
        limit=lambda node, measure: limits.gemm(node.gpu_product),
    ),
    Check(
        "GPU links",
        LOAD,
        "The links between the GPUs of the node are slow or unused; look at NVLinks, Fabric Manager and NCCL's log.",
        "Collectives in one node",
        _several_gpus,
        _links,
        _link_programs,
        limit=_link_limit,
    ),
    Check(
        "DCGM diagnostics",
        LOAD,
        "DCGM found a fault of a GPU; its text names it, and `dcgmi diag -r 3` looks closer.",
        "Diagnostics of DCGM",
        _nvidia,
        _diag,
        _diag_programs,
    ),
)
