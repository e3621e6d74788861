# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which nodes the check is for, and what it says; test_state_gpus.py has it with the driver's text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    LONGEST_ONE,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import state
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.state import GpuState
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.state_instances import (
    WHOLE,
    not_whole,
    stays_whole,
)

from tests.unit.module_utils.proof.checks.healthy import NODE


def test_gpus_are_compared_where_the_vendor_has_instances_and_the_class_has_none() -> None:
    others = [replace(NODE, instances=14), replace(NODE, gpus=0), replace(NODE, gpu_vendor="amd")]
    assert [stays_whole(node) for node in (NODE, *others, replace(NODE, gpu_vendor=""))] == [True, *[False] * 4]


@pytest.mark.parametrize(
    ("mode", "count", "words"),
    [
        (False, 0, None),
        (None, 0, None),
        (True, 0, "run nvidia-smi -i 12 -mig 0"),
        (True, 7, "it has 7 instances, its class has none: drain the node, so that a run removes them"),
    ],
)
def test_a_gpu_that_is_not_whole_has_a_repair_that_fits_into_slurms_record(
    mode: bool | None, count: int, words: str | None
) -> None:
    why = not_whole(NODE, GpuState(12, {state.DIVIDING: mode, state.INSTANCES: float(count)}))
    if words is None:
        assert why is None
    else:
        assert why and words in why and len(f"GPU 12: {WHOLE}: {why}") <= LONGEST_ONE
