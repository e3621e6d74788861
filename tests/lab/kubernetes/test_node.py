# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the emulated device plugin offers on machines of each vendor."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS

from lab.kubernetes import node
from lab.machine import amd
from lab.machine.hardware import Hardware

H100 = Hardware(2, 4, 1, 1 << 20, 2, "h100", gpu_numa=(0, 1), rail_numa=(0, 1))
MI300X = replace(H100, gpu_type="mi300x", gpu_vendor="amd")


def resources(hardware: Hardware, files: bool = False) -> dict[str, Any]:
    """The plugin's configuration by the names of resources."""
    return {it.pop("name"): it for it in json.loads(node.devices(hardware, files))["resources"]}


@pytest.mark.parametrize("hardware", [H100, MI300X])
def test_gpus_have_the_name_by_which_jobs_request_them(hardware: Hardware) -> None:
    vendor = VENDORS[hardware.gpu_vendor]
    assert list(resources(hardware)) == [vendor.resource, "rdma/rail0", "rdma/rail1"]
    paths = [it["path"] for it in resources(hardware, files=True)[vendor.resource]["devices"]]
    first, step = (amd.FIRST, amd.STEP) if hardware is MI300X else (0, 1)
    assert paths == [f"{vendor.devices}{first + step * at}" for at in range(2)]


def test_amds_gpus_have_their_addresses_and_no_variable() -> None:
    found = resources(MI300X)["amd.com/gpu"]
    files, _links = amd.gpus(MI300X)
    # two files are of CPUs
    texts = [text for path, text in files.items() if path.endswith("/properties")][2:]
    known = [VENDORS["amd"].read_kernel_list(text)["pci"] for text in texts]
    assert found == {"devices": [{"id": pci, "numa": at} for at, pci in enumerate(known)]}
    assert resources(H100)["nvidia.com/gpu"]["env"] == "NVIDIA_VISIBLE_DEVICES"


def test_a_machine_without_gpus_offers_rails_alone() -> None:
    assert list(resources(replace(MI300X, gpu_numa=()))) == ["rdma/rail0", "rdma/rail1"]
