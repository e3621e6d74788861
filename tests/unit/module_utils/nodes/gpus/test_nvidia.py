# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.nvidia import (
    minor,
    pci,
    products,
)


def test_addresses_are_the_kernels() -> None:
    assert products("00000000:1B:00.0, NVIDIA H100 80GB HBM3\n") == [
        {"pci": "0000:1b:00.0", "name": "NVIDIA H100 80GB HBM3"}
    ]


@pytest.mark.parametrize("text", ["", "No devices were found\n", "NVIDIA-SMI has failed"])
def test_a_tool_without_gpus_lists_none(text: str) -> None:
    assert products(text) == []


def test_a_large_domain_keeps_its_last_digits() -> None:
    assert (pci("00010000:1B:00.0"), pci("nonsense")) == ("0000:1b:00.0", "nonsense")


@pytest.mark.parametrize(
    ("text", "number"),
    [("Model: \t\t H100\nIRQ:   \t\t 42\nDevice Minor: \t 12\n", 12), ("Model: \t\t H100\n", -1), ("", -1)],
)
def test_the_driver_tells_the_number_of_a_device_file(text: str, number: int) -> None:
    assert minor(text) == number
