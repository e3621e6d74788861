# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from lab.hosts.paths import Paths
from tests.parts import Part, every_run, nightly


@pytest.mark.parametrize("parts", [every_run(), nightly()], ids=["each run", "the night"])
def test_each_part_has_labs_of_its_own_that_can_be_made(parts: list[Part]) -> None:
    numbers = [number for part in parts for number in part.labs]
    assert len(numbers) == len(set(numbers))
    for number in numbers:
        Paths.of({"LAB_ID": str(number)})
