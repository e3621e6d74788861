# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.nvidia import pci, products


def test_addresses_are_the_kernels() -> None:
    assert products("00000000:1B:00.0, NVIDIA H100 80GB HBM3\n") == [
        {"pci": "0000:1b:00.0", "name": "NVIDIA H100 80GB HBM3"}
    ]


@pytest.mark.parametrize("text", ["", "No devices were found\n", "NVIDIA-SMI has failed"])
def test_a_tool_without_gpus_lists_none(text: str) -> None:
    assert products(text) == []


def test_a_large_domain_keeps_its_last_digits() -> None:
    assert (pci("00010000:1B:00.0"), pci("nonsense")) == ("0000:1b:00.0", "nonsense")
