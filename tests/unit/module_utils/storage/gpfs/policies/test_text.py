# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Policies of IBM's pages (mmlspolicy; Policy rules: Examples and tips), re-typed and shortened."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.policies.text import (
    BEGIN,
    END,
    UnknownPolicy,
    block,
    block_of,
    installed,
    lacks_default,
    rule_count,
    with_block,
    without_block,
)
from hypothesis import given
from hypothesis import strategies as st

SITE = """\
/* This is the policy for the fs2 GPFS file system. */

/* File Placement Rules */
RULE 'x1' SET POOL 'dp1' WHERE NAME like '%RULE %' /* RULE 'no' SET POOL 'no' */
define(is_old, (DAYS(CURRENT_TIMESTAMP) - DAYS(ACCESS_TIME) > 30))
rule 'x2'
  set pool 'dp2' for fileset ('f1','f2')
RULE 'default' SET POOL 'dp1' LIMIT(90)
RULE 'last' set pool 'dp3'

/* Migration Rules */
RULE 'm1' MIGRATE FROM POOL 'dp1' TO POOL 'dp2' WHERE is_old
"""
LINES = "RULE 'drawbridge a' SET POOL 'p' FOR FILESET ('a')\n"
OWN = f"{BEGIN}\n{LINES}{END}\n"
PARTS = st.lists(
    st.sampled_from(
        [
            "RULE 'x1' SET POOL 'a' WHERE NAME LIKE '%RULE''s SET POOL %'\n",
            "RULE 'd' SET POOL 'a'\n",
            "rule set pool 'b' rule 'y' set pool 'c' for fileset('q')\n",
            "/* RULE 'c' SET POOL 'x' */\n",
            "-- RULE 'c' SET POOL 'x'\n",
            "RULE 'm' MIGRATE FROM POOL 'a' TO POOL 'b'",
            "\n",
            "  ",
            "RULE 'e' SET POOL \"a RULE b\"",
        ]
    )
).map("".join)


def test_rules_in_comments_and_quotes_are_none() -> None:
    assert rule_count(SITE) == 5


def test_a_new_block_comes_before_the_first_rule_that_places_all_files() -> None:
    assert with_block(SITE, LINES) == SITE.replace("RULE 'default'", f"{OWN}RULE 'default'")


def test_without_such_a_rule_it_comes_last() -> None:
    assert with_block("RULE 'x' SET POOL 'a' WHERE SIZE > 1", LINES) == f"RULE 'x' SET POOL 'a' WHERE SIZE > 1\n{OWN}"


def test_a_rule_within_a_line_is_parted_from_the_one_before() -> None:
    text = "RULE 'x' SET POOL 'a' WHERE SIZE > 1 RULE 'd' SET POOL 'b'\n"
    assert with_block(text, LINES) == f"RULE 'x' SET POOL 'a' WHERE SIZE > 1 \n{OWN}RULE 'd' SET POOL 'b'\n"


def test_a_block_behind_a_rule_that_places_all_files_moves_before_it() -> None:
    assert with_block(f"RULE 'd' SET POOL 'b'\n{OWN}", LINES) == f"{OWN}RULE 'd' SET POOL 'b'\n"


@given(text=PARTS, lines=st.sampled_from(["", LINES, LINES * 2]))
def test_the_sites_part_stays_as_it_is(text: str, lines: str) -> None:
    changed = with_block(text, lines)
    parted = without_block(changed)
    assert parted in (text, text + "\n") or parted.replace("\n", "") == text.replace("\n", "")
    assert (block_of(changed) or "") == lines
    assert with_block(changed, lines) == changed
    assert without_block(with_block(changed, LINES)) == parted or not lines


@pytest.mark.parametrize(
    ("rest", "pools", "lacks"),
    [
        ("", {"a": "p"}, True),
        ("", {}, True),
        ("RULE 'm' MIGRATE FROM POOL 'a' TO POOL 'b'\n", {"a": "p"}, True),
        ("RULE 'm' MIGRATE FROM POOL 'a' TO POOL 'b'\n", {}, False),
        ("RULE 'x' SET POOL 'a' WHERE SIZE > 1\n", {"a": "p"}, False),
        ("RULE 's' SET SNAP_POOL 'a'\n", {"a": "p"}, True),
        (SITE, {"a": "p"}, False),
    ],
)
def test_other_files_get_a_rule_where_gpfs_own_default_would_end(rest: str, pools: dict[str, str], lacks: bool) -> None:
    assert lacks_default(pools, rest) is lacks
    assert ("SET POOL 'data'\n" in block(pools, rest, "data")) is lacks


def test_a_policy_and_none() -> None:
    assert installed(SITE) == SITE
    assert (
        installed("No policy file was installed for file system 'fs1'.\nData will be stored in pool 'system'.\n") == ""
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no rule of a policy"),
        ("mmlspolicy: GPFS is down on this node.\n", "no rule of a policy"),
        ("Policy for file system '/dev/fs2':\n   First line of policy 'policy' is:\nRULE 'x'\n", "no rule of a policy"),
        ("/* RULE 'x' SET POOL 'y' */\n", "no rule of a policy"),
        ("/* \ufffd */ RULE 'x' SET POOL 'y'\n", "not UTF-8"),
        (f"{BEGIN}\nRULE 'x' SET POOL 'y'\n", "must be there once each"),
        (f"{OWN}{OWN}", "must be there once each"),
        (f"RULE 'x' SET POOL 'y' {BEGIN}\n{END}\n", "must be there once each"),
        (f"{END}\nRULE 'x' SET POOL 'y'\n{BEGIN}\n", "must be there once each"),
    ],
)
def test_text_that_must_not_be_written_back_is_refused(text: str, why: str) -> None:
    with pytest.raises(UnknownPolicy, match=why):
        installed(text)
