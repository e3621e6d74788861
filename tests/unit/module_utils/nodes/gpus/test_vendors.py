# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Each row of the table is complete, and the model offers each vendor."""

from __future__ import annotations

import dataclasses
import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import (
    DEFAULT,
    VENDORS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import NO_GPUS, Gpus


@pytest.mark.parametrize("name", VENDORS)
def test_a_row_is_complete_and_the_gates_part_is_plain_data(name: str) -> None:
    vendor = VENDORS[name]
    assert all(getattr(vendor, field.name) for field in dataclasses.fields(vendor))
    assert json.loads(json.dumps(vendor.proof())) == vendor.proof()
    assert Gpus("x", (0,), name).made_by is vendor


def test_nodes_without_gpus_have_the_default_vendor() -> None:
    assert NO_GPUS.made_by is VENDORS[DEFAULT]
