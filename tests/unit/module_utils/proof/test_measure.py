# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Missing,
    Remark,
)


def test_a_missing_measurement_never_equals_a_remark() -> None:
    assert Missing("a", "b", "c") != Remark("a", "b", "c")
