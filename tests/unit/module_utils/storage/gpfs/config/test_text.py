# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.config.text import canonical


@pytest.mark.parametrize(
    ("typed", "printed"),
    [("16G", "17179869184"), ("16G", "16384M"), ("4M", "4194304"), ("yes", "1"), ("enable", "yes"), ("no", "disable")],
)
def test_one_value_has_several_spellings(typed: str, printed: str) -> None:
    assert canonical(typed) == canonical(printed)


@pytest.mark.parametrize(("one", "other"), [("16G", "16M"), ("yes", "no"), ("mlx5_0/1", "mlx5_0/1 mlx5_1/1")])
def test_other_values_stay_different(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)
