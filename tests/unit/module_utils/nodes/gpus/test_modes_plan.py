# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.modes_plan import (
    GpuModes,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS

PARTS = VENDORS["amd"].partitions
WANT = GpuModes({"compute": ("CPX",), "memory": ("NPS4",)})


def test_equal_modes_need_no_step() -> None:
    assert plan(GpuModes({"compute": ("CPX",) * 8, "memory": ("NPS4",) * 8}), WANT, PARTS) == []


def test_the_kernel_changes_one_mode_and_a_person_the_other() -> None:
    have = GpuModes({"compute": ("SPX", "CPX"), "memory": ("NPS1", "")})
    compute, memory = plan(have, WANT, PARTS)
    assert compute.reason == "set the compute partition of 2 GPUs to CPX (it is SPX)" and compute.disturbs
    assert compute.becomes(have).modes["compute"] == ("CPX", "CPX")
    assert memory.reason == "set the memory partition of 2 GPUs to NPS4 (it is NPS1, unknown)"
    assert memory.pending == "on the drained node run amd-smi set -g all -M NPS4, then reload amdgpu"


def test_without_a_driver_the_change_waits() -> None:
    steps = plan(GpuModes({"compute": (), "memory": ()}), WANT, PARTS)
    assert {step.pending for step in steps} == {"no GPU has a file of this mode; load the driver"}
