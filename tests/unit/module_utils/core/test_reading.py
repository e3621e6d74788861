# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import Layer, run
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.reading import reading


@pytest.mark.parametrize("check", [False, True])
def test_a_reading_returns_what_it_read_and_changes_nothing(check: bool) -> None:
    result = run(Layer({}, lambda params, check: reading("it", lambda: {"found": 7})), {}, check)
    assert result == {"changed": False, "steps": [], "pending": [], "warnings": [], "found": 7}
