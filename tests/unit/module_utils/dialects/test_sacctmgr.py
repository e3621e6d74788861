# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.dialects.sacctmgr import books, rows

ASSOCIATIONS = "root|\nroot|root\nvision|\nvision|ada\nvision|ben\nold|\nold|zoe\n"
USERS = "ada|vision\nben|old\nroot|root\nzoe|old\n"


def test_only_our_accounts_are_read() -> None:
    found = books(ASSOCIATIONS, USERS, {"vision", "chem"})
    assert found.cluster
    assert found.accounts == ("vision",)
    assert found.members == {("vision", "ada"), ("vision", "ben")}
    assert found.defaults == {"ada": "vision", "ben": "old"}


def test_a_cluster_that_is_not_in_the_books_has_no_association() -> None:
    assert not books("", "", {"vision"}).cluster


def test_leading_blanks_of_a_tree_and_empty_lines_are_nothing() -> None:
    assert rows(" vision|ada\n\n") == [["vision", "ada"]]
