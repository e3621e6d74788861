# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.state import (
    BookState,
    downwards,
)


def test_accounts_below_one_another_are_refused() -> None:
    with pytest.raises(ValueError, match="accounts a, b are below one another"):
        BookState.of({"a": [], "b": [], "c": []}, {"a": {"parent": "b"}, "b": {"parent": "a"}})


def test_parents_come_first_and_otherwise_the_given_order_stays() -> None:
    assert downwards({"below": "old", "chem": "root", "old": "root"}) == ["chem", "old", "below"]


def test_the_diff_shows_defaults_and_what_has_to_go() -> None:
    books = BookState.of({"vision": ["ada"]})
    shown = replace(books, lingering={("account", "old"): "", ("qos", "gold"): "job 7 has it"}).lines()
    assert shown[-3:] == ["user ada account vision *", "account old unwanted", "qos gold unwanted"]
    assert replace(books, cluster=False).lines() == []
