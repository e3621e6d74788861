# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Load checks of a node's CPUs: the memory bandwidth, and the site's training script."""

from __future__ import annotations

from collections.abc import Sequence

from ..limits import Derived, host_memory, number
from ..measure import Found, Limit, Measure, Missing
from ..node import ProofNode
from ..tools import stream_text
from ..tools.output import last_line, measured, stopped
from .check import LOAD, Check, Output, Program, Texts
from .tools import absent, program

STREAM_S = 180
TRAINING = "training"


def _memory_programs(node: ProofNode) -> Sequence[Program]:
    path = node.tools.get("stream")
    # a thread on each core, and none that moves away from its memory
    threads = {"OMP_NUM_THREADS": str(node.cores), "OMP_PLACES": "cores", "OMP_PROC_BIND": "spread"}
    return [program([path], STREAM_S, variables=threads)] if path else []


def _memory(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    if not outputs:
        return absent(node, "stream", "the memory bandwidth of nodes is not measured")
    return stream_text.measures(outputs[0].stdout, outputs[0].stderr, outputs[0].code, node.name)


def _memory_limit(node: ProofNode, measure: Measure) -> Derived:
    return host_memory(node.socket_memory_gb_s or None, node.sockets)


def _training_programs(node: ProofNode) -> Sequence[Program]:
    return [program([node.training.command], node.training.seconds)]


def _training(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    out, unit = outputs[0], node.training.unit
    last = last_line(out.stdout)
    if why := stopped(out.code):
        return [Missing(TRAINING, node.name, why)]
    if out.code:
        return [Missing(TRAINING, node.name, f"exit code {out.code}; last line: {last_line(out.stdout, out.stderr)}")]
    return [measured(TRAINING, last, unit, node.name)]


def _training_limit(node: ProofNode, measure: Measure) -> Derived:
    own = node.training
    return Limit(own.limit, own.unit, not own.at_most, f"{number(own.limit, 6)} {own.unit} (intent)")


NODE_CHECKS: tuple[Check, ...] = (
    Check(
        "memory bandwidth",
        LOAD,
        "The node's memory is slow; look for missing modules, their speed and the NUMA settings of the BIOS.",
        "Memory of a node",
        lambda node: True,
        _memory,
        _memory_programs,
        limit=_memory_limit,
    ),
    Check(
        TRAINING,
        LOAD,
        "The site's training script is slow or fails here; look at the node's other measurements, then at its log.",
        "Training script",
        lambda node: bool(node.training.command),
        _training,
        _training_programs,
        limit=_training_limit,
    ),
)
