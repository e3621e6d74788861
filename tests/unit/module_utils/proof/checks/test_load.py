# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import LOAD
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.load import LOAD_CHECKS

PAGE = (Path(__file__).parents[5] / "docs/concepts/proof-limits.md").read_text()


def test_rows_are_load_checks_with_a_section_of_the_page() -> None:
    assert {check.kind for check in LOAD_CHECKS} == {LOAD}
    assert len({check.name for check in LOAD_CHECKS}) == len(LOAD_CHECKS) == 10
    assert [check.page for check in LOAD_CHECKS if f"\n## {check.page}\n" not in PAGE] == []
