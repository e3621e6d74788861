# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What `sacctmgr -nP` lists: fields between bars, one record a line, no header."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from .plan import AccountingState
from .terms import ACCOUNT, QOS, ROOT, Term, Terms, downwards

ASSOCIATION = f"format=account,user,{','.join(term.column for term in ACCOUNT)}"
SERVICE = f"format=name,{','.join(term.column for term in QOS)}"
USER = "format=user,defaultaccount"
NOTHING: Mapping[tuple[str, str], str] = MappingProxyType({})


def rows(out: str) -> list[list[str]]:
    """The records of an answer."""
    return [line.strip().split("|") for line in out.splitlines() if line.strip()]


def accounting(
    associations: str, users: str, services: str, want: AccountingState, busy: Mapping[tuple[str, str], str] = NOTHING
) -> AccountingState:
    """The part of the accounting database about what is wanted and what must not be there.

    The three answers are lists of associations, users and QOS in our formats. An association without a user is the
    account itself; a cluster has at least the root account's. `busy` says which of what must not be there has jobs.
    """
    found = [(row[0], row[1], row[2:]) for row in rows(associations)]
    unwanted = {name for kind, name in want.unwanted if kind == "account"}
    members = frozenset(
        (account, user) for account, user, _ in found if user and account in {*want.accounts, *unwanted}
    )
    named = {user for _, user in members}
    terms = {account: _terms(ACCOUNT, values) for account, user, values in found if not user}
    offered = {name: _terms(QOS, values) for name, *values in rows(services)}
    return AccountingState(
        bool(found),
        # accounts come in no order of ours, and order is no part of the accounting database
        {name: terms[name] for name in want.accounts if name in terms},
        members,
        {user: account for user, account in rows(users) if user in named and account},
        {name: offered[name] for name in want.qos if name in offered},
        terms.get(ROOT, {}),
        lingering={
            **_accounts_left([name for kind, name in want.unwanted if kind == "account"], terms, busy),
            **_qos_left([name for kind, name in want.unwanted if kind == "qos"], offered, _asking(want, terms), busy),
        },
    )


def _accounts_left(
    unwanted: Sequence[str], accounts: Mapping[str, Terms], busy: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], str]:
    """Accounts that must not be there but are, from below. Slurm deletes what is below a deleted one without a word."""
    left = {name: accounts[name]["parent"] for name in sorted(unwanted) if name in accounts}
    found: dict[tuple[str, str], str] = {}
    for name in reversed(downwards(left)):
        below = sorted(other for other, terms in accounts.items() if terms["parent"] == name)
        kept = [other for other in below if found.get(("account", other), "it stays")]
        found["account", name] = f"account {kept[0]} is below it" if kept else busy.get(("account", name), "")
    return found


def _qos_left(
    unwanted: Sequence[str],
    qos: Mapping[str, Terms],
    asking: Mapping[str, str],
    busy: Mapping[tuple[str, str], str],
) -> dict[tuple[str, str], str]:
    """QOS that must not be there but are. Slurm deletes them, whoever needs them."""
    found: dict[tuple[str, str], str] = {}
    for name in sorted(set(unwanted) & set(qos)):
        account = asking.get(name)
        found["qos", name] = f"account {account} may ask for it" if account else busy.get(("qos", name), "")
    return found


def _asking(want: AccountingState, accounts: Mapping[str, Terms]) -> dict[str, str]:
    """QOS that accounts which we don't describe have of their own, each with one of them."""
    found: dict[str, str] = {}
    for name, terms in accounts.items():
        if name not in want.accounts and ("account", name) not in want.unwanted:
            inherited = accounts.get(terms["parent"], {}).get("qos", "").split(",")
            found |= {qos: name for qos in terms["qos"].split(",") if qos not in inherited}
    return found


def _terms(kind: tuple[Term, ...], values: list[str]) -> Terms:
    return {term.key: term.read(value) for term, value in zip(kind, values)}
