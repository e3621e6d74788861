# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import cpus as core_cpus
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "cpus", "written"),
    [
        ("0", [0], "0"),
        ("0-3,64-67", [0, 1, 2, 3, 64, 65, 66, 67], "0-3,64-67"),
        ("8,2-3", [2, 3, 8], "2-3,8"),
        ("1-2,2-3", [1, 2, 3], "1-3"),
    ],
)
def test_a_list_of_the_kernel(text: str, cpus: list[int], written: str) -> None:
    assert (core_cpus.cpu_list(text), core_cpus.cpu_ranges(cpus)) == (cpus, written)


@pytest.mark.parametrize("text", ["", "all", "1-", "1,,2"])
def test_a_malformed_cpu_list_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        core_cpus.cpu_list(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0", ""),
        ("0-3,64-67", ""),
        ("3-3", ""),
        ("9-10", ""),
        ("4-1", "4-1 runs backwards"),
        ("0-1,10-9", "10-9 runs backwards"),
        ("all", "it is no CPU list"),
        ("", "it is no CPU list"),
        ("0-", "it is no CPU list"),
    ],
)
def test_ambiguous_cpu_lists_are_refused(text: str, why: str) -> None:
    assert core_cpus.unreadable(text) == why


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
    assert core_cpus.ordered(text) == cpus
    assert core_cpus.ordered(core_cpus.in_order(cpus)) == cpus
    assert len(core_cpus.in_order(cpus)) <= len(text)


@pytest.mark.parametrize(("text", "cpus"), [("0-7:1/2", [0, 2, 4, 6]), ("0-9:2/5", [0, 1, 5, 6])])
def test_groups_are_read_as_the_kernel_reads_them(text: str, cpus: list[int]) -> None:
    assert core_cpus.ordered(text) == cpus


@given(st.permutations(range(24)))
def test_any_order_can_be_written(cpus: list[int]) -> None:
    assert core_cpus.ordered(core_cpus.in_order(cpus)) == cpus
