# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.plans.books import BookState, plan
from hypothesis import given
from hypothesis import strategies as st

WANT = BookState.of({"vision": ["ada", "ben"], "chem": ["ada", "dan"]})
EMPTY = BookState(True, (), frozenset(), {})


def reasons(have: BookState, want: BookState = WANT) -> list[str]:
    return [step.reason for step in plan(have, want)]


def test_from_nothing_each_verb_is_used_once_an_account() -> None:
    assert reasons(EMPTY) == ["add account vision,chem", "let ada,ben charge vision", "let ada,dan charge chem"]


def test_the_cluster_comes_first() -> None:
    assert reasons(BookState(False, (), frozenset(), {}))[0] == "add the cluster"


def test_a_users_first_account_is_the_default() -> None:
    assert WANT.defaults == {"ada": "vision", "ben": "vision", "dan": "chem"}


def test_a_new_default_comes_before_the_old_account_goes() -> None:
    have = BookState(True, ("vision", "chem"), WANT.members | {("chem", "ben")}, {**WANT.defaults, "ben": "chem"})
    assert reasons(have) == ["make vision the default account of ben", "let ben charge chem no longer"]


def test_whoever_is_not_named_loses_the_account() -> None:
    have = BookState(True, WANT.accounts, WANT.members | {("vision", "eve")}, {**WANT.defaults, "eve": "vision"})
    assert reasons(have) == ["let eve charge vision no longer"]


def test_an_existing_user_without_default_gets_one() -> None:
    have = BookState(True, WANT.accounts, WANT.members, {"ada": "vision", "dan": "chem"})
    assert reasons(have) == ["make vision the default account of ben"]


ACCOUNTS = st.sampled_from(["vision", "chem"])
MEMBERS = st.frozensets(st.tuples(ACCOUNTS, st.sampled_from(["ada", "ben", "eve"])))


@given(MEMBERS, st.permutations(["vision", "chem"]), st.booleans())
def test_the_steps_lead_to_what_is_wanted(members: frozenset[tuple[str, str]], order: list[str], swap: bool) -> None:
    defaults = {user: account for account, user in sorted(members, reverse=swap)}
    have = BookState(True, tuple(dict.fromkeys(order[:1])), members, defaults)
    after = have
    for step in plan(have, WANT):
        after = step.becomes(after)
    assert sorted(after.lines()) == sorted(WANT.lines())
