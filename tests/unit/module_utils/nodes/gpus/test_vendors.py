# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Each row of the table is complete, and the model offers each vendor."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import MISSING

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import (
    DEFAULT,
    VENDORS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import NO_GPUS, Gpus


@pytest.mark.parametrize("name", VENDORS)
def test_a_row_is_complete_and_the_gates_part_is_plain_data(name: str) -> None:
    vendor = VENDORS[name]
    needed = [field for field in dataclasses.fields(vendor) if field.default is field.default_factory is MISSING]
    assert all(getattr(vendor, field.name) for field in needed)
    assert bool(vendor.listing) != bool(vendor.kernel_list), "a tool lists the GPUs, or the kernel"
    assert bool(vendor.release) != bool(vendor.loaded), "a tool shows that the driver works, or a file"
    assert bool(vendor.processes) != bool(vendor.process_folder), "a tool lists the processes, or the kernel"
    assert json.loads(json.dumps(vendor.proof())) == vendor.proof()
    assert Gpus("x", (0,), name).made_by is vendor


def test_nodes_without_gpus_have_the_default_vendor() -> None:
    assert NO_GPUS.made_by is VENDORS[DEFAULT]


def test_no_gpu_is_of_two_vendors() -> None:
    models = [
        "h100",
        "l40s",
        "gb200",
        "A100",
        "NVIDIA H100 80GB HBM3",
        "mi300x",
        "MI355X",
        "AMD Instinct MI300X",
        "mine",
    ]
    makers = {model: [name for name, vendor in VENDORS.items() if vendor.makes(model)] for model in models}
    assert makers == {
        **{model: ["nvidia"] for model in models[:5]},
        **{model: ["amd"] for model in models[5:8]},
        "mine": [],
    }
