# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import refusals
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.policies import text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.policies.plan import (
    PolicyState,
    Wanted,
    plan,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.steps import after

POOLS = frozenset({"system", "data"})
WANT = Wanted("fs1", {"a": "data", "b": "system"}, "data")
SITE = "RULE 'x' SET POOL 'system' WHERE SIZE > 1\nRULE 'default' SET POOL 'data'\n"
NOTHING = PolicyState("", POOLS)
OWN = f"""\
{text.BEGIN}
RULE 'drawbridge a' SET POOL 'data' FOR FILESET ('a')
RULE 'drawbridge b' SET POOL 'system' FOR FILESET ('b')
RULE 'drawbridge: other files' SET POOL 'data'
{text.END}
"""
PIECES = ["", SITE, "RULE 'm' MIGRATE FROM POOL 'a' TO POOL 'b'\n", "/* c */\nRULE 'd' SET POOL 'data'"]
WISHES = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["data", "system"]))


@given(rest=st.sampled_from(PIECES), first=WISHES, then=WISHES)
def test_from_anywhere_the_steps_end_where_nothing_is_left(
    rest: str, first: dict[str, str], then: dict[str, str]
) -> None:
    state = PolicyState(rest, POOLS)
    for pools in (first, then):
        want = Wanted("fs1", pools, "data")
        state = after(plan(state, want), state)
        assert plan(state, want) == []
        assert all(f"FOR FILESET ('{name}')" in state.policy for name in pools)
    assert text.without_block(state.policy).strip() == rest.strip()
    text.installed(state.policy or "No policy file was installed for file system 'fs1'.\n")


def test_a_file_system_without_policy_gets_rules_and_a_default() -> None:
    [step] = plan(NOTHING, WANT)
    assert (step.payload, step.refused, step.consent) == (OWN, "", None)
    assert plan(PolicyState(OWN, POOLS), WANT) == []


def test_a_policy_of_the_site_needs_a_consent() -> None:
    steps = plan(PolicyState(SITE, POOLS), WANT)
    assert refusals(steps, {"variables": {"into_site_policy": "site_into"}}) == [
        "fs1 has a policy of 2 rules that Drawbridge did not write; to put rules of projects before its default rule,"
        " set site_into: true"
    ]
    assert refusals(steps, {"into_site_policy": True}) == []
    assert plan(PolicyState(SITE, POOLS), Wanted("fs1", {})) == []


def test_what_has_been_put_in_needs_no_further_consent() -> None:
    [step] = plan(PolicyState(SITE, POOLS), WANT)
    [again] = plan(PolicyState(step.payload, POOLS), Wanted("fs1", {"a": "system"}, "data"))
    assert again.consent is None and again.payload.startswith("RULE 'x'")
    [last] = plan(PolicyState(again.payload, POOLS), Wanted("fs1", {}))
    assert last.payload == SITE


def test_the_last_project_leaves_a_policy_that_places_files() -> None:
    [step] = plan(PolicyState(OWN, POOLS), Wanted("fs1", {}, "data"))
    assert step.payload == f"{text.BEGIN}\nRULE 'drawbridge: other files' SET POOL 'data'\n{text.END}\n"


@pytest.mark.parametrize(
    ("want", "pools", "why"),
    [
        (Wanted("fs1", {"a": "data"}), POOLS, "has pools data, system and no placement rule"),
        (Wanted("fs1", {"a": "data"}), frozenset[str](), "has pools that mmlsfs does not print and no placement rule"),
        (Wanted("fs1", {"a": "system"}), frozenset({"system"}), ""),
        (Wanted("fs1", {"a": "flash"}, "data"), POOLS, "pool flash, for new files of a, is no pool of fs1"),
        (Wanted("fs1", {"a": "data"}, "flash"), POOLS, "pool flash, for new files of all others, is no pool of fs1"),
        (Wanted("fs1", {f"p{it}": "data" for it in range(20_000)}, "data"), POOLS, "more than 1 MiB"),
    ],
)
def test_rules_that_would_stop_writers_are_refused(want: Wanted, pools: frozenset[str], why: str) -> None:
    [step] = plan(PolicyState("", pools), want)
    assert why in step.refused and bool(why) == bool(step.refused)


def test_rules_of_filesets_that_a_run_is_not_about_stay_where_they_are() -> None:
    one = Wanted("fs1", {"b": "data"}, "data", frozenset("a"))
    [step] = plan(PolicyState(OWN, POOLS), one)
    assert step.payload == OWN.replace("SET POOL 'system' FOR", "SET POOL 'data' FOR")
    have = PolicyState(step.payload, POOLS)
    assert plan(have, one) == plan(have, Wanted("fs1", {"a": "data"}, "data", frozenset("b"))) == []
    [gone] = plan(have, Wanted("fs1", {}, "data", frozenset("b")))
    assert "FOR FILESET ('a')" not in gone.payload and "FOR FILESET ('b')" in gone.payload


def test_a_rule_that_others_changed_is_drawbridges_no_more() -> None:
    changed = OWN.replace("FOR FILESET ('a')", "FOR FILESET ('a') WHERE TRUE")
    [step] = plan(PolicyState(changed, POOLS), WANT)
    assert "WHERE" not in step.payload and text.pools_of(text.block_of(step.payload) or "") == dict(WANT.pools)
