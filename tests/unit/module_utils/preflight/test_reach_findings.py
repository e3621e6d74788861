# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.model import Answer, of_table
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.reach_findings import TABLE

from tests.unit.module_utils.preflight_site import CASES, WANT, changed


@pytest.mark.parametrize("name", [row.name for row in TABLE])
def test_each_finding_is_the_only_one_of_its_cases(name: str) -> None:
    for case in CASES[name]:
        found = of_table(TABLE, Answer("gpu01", changed(case), WANT))
        assert [(it.name, it.text) for it in found] == [(name, case["says"])]
