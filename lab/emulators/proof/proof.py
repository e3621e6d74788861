# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Measuring tools, whose rates follow from the lab's cables, its switches and the settings of its NICs."""

from __future__ import annotations

from importlib import import_module

from ..common import Call
from . import node

MODULES = {
    **dict.fromkeys(("ib_write_bw", "ib_write_lat", "ib_read_lat"), "perftest"),
    **dict.fromkeys(("all_reduce_perf", "all_reduce_perf_mpi"), "nccl"),
    **dict.fromkeys(("nvbandwidth", "gemm", "stream"), "single"),
}


def main(name: str, argv: list[str]) -> int:
    """Run a command line and return its exit code."""
    with Call(node.device(), name, argv) as call:
        call.rc = import_module(f"{__package__}.{MODULES[name]}").main(call)
    return call.rc or 0
