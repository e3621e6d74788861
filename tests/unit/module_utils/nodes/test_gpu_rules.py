# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules that must accept; refused.yml has what they refuse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import Fault
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpu_rules import RULES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Gpus, Nodes
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part

from tests.unit.module_utils.nodes.gpus.kfd import MINORS
from tests.unit.module_utils.site.test_refused import site

NODES: Nodes = part("nodes", site("lab")["drawbridge_nodes"])
MI300X = Gpus("mi300x", (0, 0, 0, 0, 1, 1, 1, 1), "amd", MINORS)


def faults(gpus: Gpus) -> Sequence[Fault]:
    nodes = replace(NODES, classes={"a": replace(NODES.classes["h100"], gpus=gpus)})
    return [fault for rule in RULES for fault in rule(nodes)]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"type": "mine"},
        {"minors": tuple(range(128, 136)), "type": "mi210"},
        {"product": "AMD Instinct MI300X"},
        {"vendor": "nvidia", "type": "H100", "minors": ()},
        {"vendor": "nvidia", "type": "mine", "minors": (), "product": "Tesla V100-SXM2-32GB"},
    ],
)
def test_gpus_of_their_own_vendor_are_accepted(change: dict[str, Any]) -> None:
    assert faults(replace(MI300X, **change)) == []


@pytest.mark.parametrize(
    ("compute", "memory", "parts"),
    [("SPX", "NPS1", 1), ("DPX", "NPS2", 2), ("QPX", "NPS4", 4), ("CPX", "NPS4", 8), ("CPX", "", 8), ("", "NPS1", 1)],
)
def test_modes_of_the_model_are_accepted(compute: str, memory: str, parts: int) -> None:
    minors = tuple(first + part for first in MINORS for part in range(parts))
    gpus = replace(MI300X, numa=(0,) * len(minors), minors=minors)
    assert faults(replace(gpus, partition=replace(gpus.partition, compute=compute, memory=memory))) == []


def test_other_models_may_have_other_modes() -> None:
    gpus = replace(MI300X, type="mi300a", partition=replace(MI300X.partition, compute="TPX"))
    assert faults(gpus) == []
