# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.quantities import count, duration


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.34, "0.3 s"), (48.4, "48 s"), (192, "3 min 12 s"), (3720, "1 h 2 min")]
)
def test_durations_read_as_people_write_them(seconds: float, expected: str) -> None:
    assert duration(seconds) == expected


def test_a_number_has_its_noun() -> None:
    assert [count(number, "node") for number in (0, 1, 1200)] == ["0 nodes", "1 node", "1,200 nodes"]
