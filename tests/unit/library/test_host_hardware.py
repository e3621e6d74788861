# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.library.ways import result_of, ways


@pytest.mark.parametrize("way", ways("host_hardware"))
def test_any_host_gives_an_answer_and_stays_as_it_is(way: str, capfd: Any) -> None:
    found = result_of(way, "host_hardware", {}, check=True, capfd=capfd)
    assert found["changed"] is False
    assert found["hardware"]["memory_mib"] > 0
    assert isinstance(found["hardware"]["missing"], list)
