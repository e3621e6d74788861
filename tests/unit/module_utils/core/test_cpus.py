# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import cpus as core_cpus


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
