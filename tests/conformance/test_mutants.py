# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of planted defects follows the code; `make mutants` plants them."""

from __future__ import annotations

from tests.mutants.table import faults, read


def test_every_defect_can_be_planted() -> None:
    assert faults(read()) == []
