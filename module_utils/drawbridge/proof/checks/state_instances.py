# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPUs of a class without instances: they have none, and their mode for instances is off."""

from __future__ import annotations

from ...nodes.gpus import state
from ...nodes.gpus.state import GpuState
from ...nodes.gpus.vendors import VENDORS
from ..node import ProofNode

WHOLE, NEEDS = "GPU instances", (state.DIVIDING, state.INSTANCES)
"""Name of the check, and the values that it needs."""
MEANING = "The mode for instances is on, or a GPU has some, in a class without: turn the mode off on the drained node."


def stays_whole(node: ProofNode) -> bool:
    """Whether the vendor's GPUs can have instances, and those of the class have none."""
    vendor = VENDORS.get(node.gpu_vendor)
    return node.gpus > 0 and not node.divided and vendor is not None and vendor.divider is not None


def not_whole(node: ProofNode, gpu: GpuState) -> str | None:
    """Why a GPU is not whole, with the repair.

    While the mode is on without an instance, no program can use the GPU. With instances, a program uses one of them.
    """
    if count := gpu.values[state.INSTANCES]:
        return f"it has {count:g} instances, its class has none: drain the node, so that a run removes them"
    divider = VENDORS[node.gpu_vendor].divider
    if not (divider and gpu.values[state.DIVIDING]):
        return None
    return f"its mode for instances is on, and it has none: run {divider.stays_whole.format(gpu=gpu.index)}"
