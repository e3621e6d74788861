# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Limit,
    Measure,
    Missing,
    Remark,
)

VALUES = (
    Measure("rail bandwidth", 391.4, "Gb/s", "gpu01 rail3 -> gpu02 rail3"),
    Missing("rail bandwidth", "gpu01 rail3 -> gpu02 rail3", "it hung"),
    Remark("NVLS inactive", "gpu01", "0 NVLS channels"),
    Limit(380.0, "Gb/s", True, "0.97 x 98.0 % x 400 Gb/s"),
)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_result_is_a_value_that_later_code_cannot_change(value: Measure | Missing | Remark | Limit) -> None:
    assert value in {value} and dataclasses.replace(value) == value
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.why = "other"  # type: ignore[misc, union-attr]


def test_a_missing_measurement_never_equals_a_remark() -> None:
    assert Missing("a", "b", "c") != Remark("a", "b", "c")
