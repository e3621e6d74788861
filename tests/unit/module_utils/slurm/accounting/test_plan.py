# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.plan import (
    AccountingState,
    plan,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.steps import after

WANT = AccountingState.of({"vision": ["ada", "ben"], "chem": ["ada", "dan"]})
TOP = {"qos": "normal"}
EMPTY = AccountingState(True, {}, frozenset(), {}, top=TOP)
TREE = AccountingState.of(
    {"lab": [], "vision": ["ada"]},
    {
        "vision": {"parent": "lab", "fairshare": "2", "MaxTRES": "gres/gpu=4"},
        "lab": {"qos": "urgent,normal", "MaxTRES": "cpu=9"},
    },
    {"urgent": {"Priority": "10", "Preempt": "normal", "MaxWall": "4:00:00"}},
)
THERE = {name: {**terms, "qos": "normal"} for name, terms in WANT.accounts.items()}


def reasons(have: AccountingState, want: AccountingState = WANT) -> list[str]:
    return [step.reason for step in plan(have, want)]


def test_qos_and_parents_come_before_what_refers_to_them() -> None:
    assert reasons(EMPTY, TREE) == [
        "add qos urgent",
        "set qos urgent: Priority=10 Preempt=normal MaxWall=240",
        "add account lab",
        "add account vision below lab",
        "set account lab: qos=normal,urgent MaxTRES=cpu=9",
        "set account vision: fairshare=2 MaxTRES=gres/gpu=4",
        "let ada charge vision",
    ]


def test_an_accounting_that_is_right_needs_no_steps() -> None:
    accounts = {
        "vision": {**TREE.accounts["vision"], "qos": "normal,urgent", "MaxTRES": "cpu=9,gres/gpu=4"},
        "lab": TREE.accounts["lab"],
    }
    have = AccountingState(True, accounts, TREE.members, TREE.defaults, TREE.qos, TOP)
    assert reasons(have, TREE) == []
    # inherited values that differ are the child's own only where the child says so
    own = {**accounts, "vision": {**accounts["vision"], "MaxTRES": "cpu=3"}}
    assert reasons(replace(have, accounts=own), TREE) == ["set account vision: MaxTRES=cpu=-1,gres/gpu=4"]


ACCOUNTS = st.sampled_from(["vision", "chem"])
MEMBERS = st.frozensets(st.tuples(ACCOUNTS, st.sampled_from(["ada", "ben", "eve"])))


@given(MEMBERS, st.permutations(["vision", "chem"]), st.booleans())
def test_the_steps_lead_to_the_wanted_state(members: frozenset[tuple[str, str]], order: list[str], swap: bool) -> None:
    defaults = {user: account for account, user in sorted(members, reverse=swap)}
    have = AccountingState(True, {order[0]: THERE[order[0]]}, members, defaults, top=TOP)
    assert plan(after(plan(have, WANT), have), WANT) == []


def test_deletions_are_last_and_users_go_before_their_account() -> None:
    want = AccountingState.of({"vision": ["ada"]}, to_delete=frozenset({("account", "old"), ("qos", "gold")}))
    left = {("account", "old"): "", ("qos", "gold"): ""}
    have = replace(want, members=want.members | {("old", "ada")}, defaults={"ada": "old"}, deletions=left)
    steps = plan(have, want)
    assert [step.payload for step in steps] == [
        ["modify", "user", "where", "name=ada", "set", "defaultaccount=vision"],
        ["delete", "user", "where", "name=ada", "account=old"],
        ["delete", "account", "where", "name=old"],
        ["delete", "qos", "where", "name=gold"],
    ]
    assert after(steps, have) == want


def test_an_account_with_jobs_takes_no_more_and_keeps_its_users_until_they_end() -> None:
    """Slurm removes neither an account nor a user with jobs. People who went on to submit would keep it permanently."""
    want = AccountingState.of({"vision": ["ada"]}, to_delete=frozenset({("account", "old")}))
    left = {("account", "old"): "job 7 has it"}
    have = replace(want, members=want.members | {("old", "ben")}, deletions=left, with_jobs={"old": True})
    close, remove = plan(have, want)
    assert close.payload == ["modify", "account", "where", "name=old", "set", "GrpSubmitJobs=0"]
    assert (close.pending, remove.pending) == ("", "job 7 has it")
    assert "account old takes jobs" in have.lines()
    closed = after([close], have)
    assert [step.reason for step in plan(closed, want)] == ["remove account old"]
    assert "account old takes jobs" not in closed.lines()


def test_accounts_below_one_another_are_refused() -> None:
    with pytest.raises(ValueError, match="accounts a, b are below one another"):
        AccountingState.of({"a": [], "b": [], "c": []}, {"a": {"parent": "b"}, "b": {"parent": "a"}})


def test_the_diff_shows_defaults_and_deletions() -> None:
    accounting = AccountingState.of({"vision": ["ada"]})
    shown = replace(accounting, deletions={("account", "old"): "", ("qos", "gold"): "job 7 has it"}).lines()
    assert shown[-3:] == ["user ada account vision *", "account old unwanted", "qos gold unwanted"]
    assert replace(accounting, cluster=False).lines() == []
