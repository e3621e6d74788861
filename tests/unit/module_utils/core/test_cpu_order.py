# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.cpu_order import in_order, ordered
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-7", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("0-6:1/2,1-7:1/2", [0, 2, 4, 6, 1, 3, 5, 7]),
        ("0-28:1/4", [0, 4, 8, 12, 16, 20, 24, 28]),
        ("5,3,4", [5, 3, 4]),
        ("2,0,9", [2, 0, 9]),
    ],
)
def test_an_ordered_list_is_short_and_says_the_order(text: str, cpus: list[int]) -> None:
    assert ordered(text) == cpus
    assert ordered(in_order(cpus)) == cpus
    assert len(in_order(cpus)) <= len(text)


@pytest.mark.parametrize(("text", "cpus"), [("0-7:1/2", [0, 2, 4, 6]), ("0-9:2/5", [0, 1, 5, 6])])
def test_groups_are_read_as_the_kernel_reads_them(text: str, cpus: list[int]) -> None:
    assert ordered(text) == cpus


@given(st.permutations(range(24)))
def test_any_order_can_be_written(cpus: list[int]) -> None:
    assert ordered(in_order(cpus)) == cpus
