# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.table import (
    CHECKS,
    WARNINGS,
)


def test_names_are_unique_and_each_row_says_what_a_failure_means() -> None:
    names = [check.name for check in CHECKS]
    assert len({*names}) == len(names) and not WARNINGS & {*names}
    assert all(check.meaning.endswith(".") and check.page for check in CHECKS)
