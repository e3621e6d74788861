# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.divisible import (
    MODELS,
    divisible,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS


def test_vendors_with_a_tool_that_divides_have_models() -> None:
    assert MODELS.keys() == {name for name, row in VENDORS.items() if row.divider}


def test_products_of_other_vendors_are_not_divided() -> None:
    assert divisible("nvidia", "NVIDIA H100 80GB HBM3")
    assert divisible("amd", "AMD Instinct MI300X") is None
