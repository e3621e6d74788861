# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The output of `sacctmgr -nP list`: fields between bars, one record a line, no header."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .ends import CLOSED
from .plan import AccountingState
from .terms import ACCOUNT, ROOT, Term, Terms, parents_first

ASSOCIATION = f"format=account,user,{','.join(term.column for term in ACCOUNT)}"
USER = "format=user,defaultaccount"
Reasons = Mapping[tuple[str, str], str]
"""Why an account or a QOS can't be deleted now, by kind and name; empty: it can."""
NO_JOBS: Reasons = MappingProxyType({})


def service(kept: tuple[Term, ...]) -> str:
    """The columns of QOS."""
    return f"format=name,{','.join(term.column for term in kept)}"


def rows(out: str) -> list[list[str]]:
    """The records of a listing."""
    return [line.strip().split("|") for line in out.splitlines() if line.strip()]


def accounting(
    associations: str, users: str, services: str, want: AccountingState, busy: Reasons = NO_JOBS
) -> AccountingState:
    """The accounts, users and QOS that `want` declares or deletes.

    An association without a user is the account itself; a cluster has at least the root account's. `busy` maps items
    to delete to the job that they have.
    """
    found = [(row[0], row[1], row[2:]) for row in rows(associations)]
    read = {*want.accounts, *_names(want, "account")} - want.site_users
    members = frozenset((account, user) for account, user, _unused in found if user and account in read)
    named = {user for _unused, user in members}
    terms = {account: _terms(ACCOUNT, values) for account, user, values in found if not user}
    offered = {name: _terms(want.kept, values) for name, *values in rows(services)}
    leaving = _account_deletions(want, terms, busy)
    return AccountingState(
        bool(found),
        {name: terms[name] for name in want.accounts if name in terms},
        members,
        {user: account for user, account in rows(users) if user in named and account},
        {name: offered[name] for name in want.qos if name in offered},
        terms.get(ROOT, {}),
        want.kept,
        want.site_users,
        deletions={**leaving, **_qos_deletions(want, terms, offered, busy)},
        with_jobs={
            name: terms[name]["GrpSubmitJobs"] != CLOSED
            for (kind, name), reason in leaving.items()
            if reason and reason == busy.get((kind, name))
        },
    )


def _names(want: AccountingState, kind: str) -> list[str]:
    return sorted(name for of, name in want.to_delete if of == kind)


def _account_deletions(want: AccountingState, accounts: Mapping[str, Terms], busy: Reasons) -> Reasons:
    """Children first. Slurm silently deletes all accounts below a deleted one."""
    existing = {name: accounts[name]["parent"] for name in _names(want, "account") if name in accounts}
    found: dict[tuple[str, str], str] = {}
    for name in reversed(parents_first(existing)):
        below = sorted(other for other, terms in accounts.items() if terms["parent"] == name)
        kept = [other for other in below if found.get(("account", other), "it stays")]
        found["account", name] = f"account {kept[0]} is below it" if kept else busy.get(("account", name), "")
    return found


def _qos_deletions(
    want: AccountingState, accounts: Mapping[str, Terms], qos: Mapping[str, Terms], busy: Reasons
) -> Reasons:
    """Slurm deletes a QOS even if accounts or jobs use it."""
    users = _qos_of_other_accounts(want, accounts)
    return {
        ("qos", name): f"account {users[name]} may use it" if name in users else busy.get(("qos", name), "")
        for name in _names(want, "qos")
        if name in qos
    }


def _qos_of_other_accounts(want: AccountingState, accounts: Mapping[str, Terms]) -> dict[str, str]:
    """QOS that an undeclared account has of its own, each with one such account."""
    found: dict[str, str] = {}
    for name, terms in accounts.items():
        if name not in want.accounts and ("account", name) not in want.to_delete:
            inherited = accounts.get(terms["parent"], {}).get("qos", "").split(",")
            found |= {qos: name for qos in terms["qos"].split(",") if qos not in inherited}
    return found


def _terms(kind: tuple[Term, ...], values: list[str]) -> Terms:
    return {term.key: term.read(value) for term, value in zip(kind, values)}
