# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from decimal import Decimal

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.quantity import quantity


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("4Gi", 4 << 30),
        ("1.5Gi", 3 << 29),
        ("500m", Decimal("0.5")),
        ("1e3", 1000),
        ("1E", 10**18),
        ("-1Gi", -(1 << 30)),
        (".5", Decimal("0.5")),
        (12, 12),
        ("8GB", None),
        ("4K", None),
        ("", None),
        (None, None),
    ],
)
def test_quantities(text: object, number: Decimal | None) -> None:
    assert quantity(text) == number
