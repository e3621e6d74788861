# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every filter of hostlists, by examples of what goes in and what comes out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.hostlists import FilterModule

FILTERS = FilterModule().filters()
# filter, what goes in, what comes out
GOOD: list[tuple[str, Any, Any]] = [
    ("hostlist_compress", ["n3", "n1", "n2"], "n[3,1-2]"),
    ("hostlist_compress", "n10,n9", "n[10,9]"),
    ("hostlist_expand", "r[1-2]n[1-2],login", ["r1n1", "r1n2", "r2n1", "r2n2", "login"]),
    ("hostlist_sorted", ["n3", "n1", "n2"], "n[1-3]"),
    ("hostlist_sorted", "n10,n9", "n[9-10]"),
]
NO_HOSTS = "can't be read as names of hosts"
WRONG: list[tuple[str, Any, str]] = [
    ("hostlist_compress", "n[2-1]", NO_HOSTS),
    ("hostlist_compress", 7, NO_HOSTS),
    ("hostlist_expand", "n1,n[2-1]", "runs backwards"),
    ("hostlist_sorted", "n[2-1]", NO_HOSTS),
    ("hostlist_sorted", 7, NO_HOSTS),
]


@pytest.mark.parametrize(("name", "given", "expected"), GOOD)
def test_names_go_in(name: str, given: Any, expected: Any) -> None:
    assert FILTERS[name](given) == expected


@pytest.mark.parametrize(("name", "given", "sentence"), WRONG)
def test_a_wrong_value_is_a_filter_error(name: str, given: Any, sentence: str) -> None:
    with pytest.raises(AnsibleFilterError, match=re.escape(sentence)):
        FILTERS[name](given)
