# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Instances in a driver's list."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.instances_text import (
    ANY,
    NONE,
    USED,
    counted,
    has_instance,
    listed,
    not_whole,
    words,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendor import Mode
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS

NVIDIA = VENDORS["nvidia"]
WHOLE = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-3f6f389f-b0cc-5e5c-8e32-eaa8fd067902)\n"
DIVIDED = """\
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-b2d5f1b7-8a4e-4a2b-9b0e-0a1b2c3d4e5f)
  MIG 3g.40gb     Device  0: (UUID: MIG-3f6f389f-b0cc-5e5c-8e32-eaa8fd067902)
  MIG 1g.10gb     Device  1: (UUID: MIG-4f6f389f-b0cc-5e5c-8e32-eaa8fd067902)
  MIG 1g.10gb     Device  2: (UUID: MIG-5f6f389f-b0cc-5e5c-8e32-eaa8fd067902)
"""


def test_instances_are_those_of_the_gpu_above() -> None:
    assert listed(WHOLE + DIVIDED, NVIDIA) == [{}, {"3g.40gb": 1, "1g.10gb": 2}]
    assert listed("", NVIDIA) == []
    assert has_instance(WHOLE + DIVIDED, NVIDIA) and not has_instance(WHOLE, NVIDIA)


@pytest.mark.parametrize(
    "text",
    [
        f"{WHOLE}Unable to determine the device handle for GPU 0000:07:00.0: GPU is lost.\n",
        DIVIDED,
        DIVIDED.partition("\n")[2],
        f"{WHOLE}  MIX 3g.40gb Device 0\n",
    ],
    ids=["a lost GPU", "another index", "an instance without its GPU", "another word"],
)
def test_other_lines_are_errors(text: str) -> None:
    with pytest.raises(ValueError, match=r"GPU|MIG|MIX"):
        listed(text, NVIDIA)


def test_gpus_are_counted_among_lines_that_are_not_known() -> None:
    assert counted(f"{WHOLE}GPU is lost.\n{DIVIDED}", NVIDIA) == 2
    assert counted("", NVIDIA) == 0


def test_words_are_the_intents() -> None:
    assert (words({"3g.40gb": 1, "1g.10gb": 2}), words({})) == ("1g.10gb: 2, 3g.40gb: 1", "")


ON, OFF, NEVER = Mode(True, True), Mode(), Mode(possible=False)


def test_gpus_that_are_whole_have_neither_instances_nor_their_mode() -> None:
    assert not_whole([{}, {}, {}], [OFF, NEVER, Mode(later=True)], NONE, "smi -i {gpu}") == []


def test_the_mode_without_an_instance_has_a_repair_and_instances_are_named_where_no_run_removes_them() -> None:
    layouts, modes = [{}, {"1g.10gb": 7}, {}, {}], [ON, ON, OFF, ON]
    stuck = "the mode for instances without any on GPU 0, 3 (idle: smi -i 0,3)"
    assert not_whole(layouts, modes, USED, "smi -i {gpu}") == [stuck]
    divided = "instances, which its class has not, on GPU 1 (1g.10gb: 7)"
    assert not_whole(layouts, modes, NONE, "smi -i {gpu}") == [stuck, divided]
    assert not_whole(layouts, modes, ANY, "smi -i {gpu}") == []
