# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.takeovers import CONFIGURATIONS, Live, lost, taken_over


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_site_is_described_taken_over_and_loses_only_what_the_report_names(name: str) -> None:
    live = Live(name)
    _intent, second = taken_over(live)
    assert [it for it in lost(second) if it.keep] == []
    assert [it.old for it in lost(second)] == live.lost
    assert all(it.note for it in lost(second))
