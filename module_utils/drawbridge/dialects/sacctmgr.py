# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What `sacctmgr -nP` lists: fields between bars, one record a line, no header."""

from __future__ import annotations

from collections.abc import Collection

from ..plans.book_terms import ACCOUNT, QOS, ROOT, Term, Terms
from ..plans.books import BookState

ASSOCIATION = f"format=account,user,{','.join(term.column for term in ACCOUNT)}"
SERVICE = f"format=name,{','.join(term.column for term in QOS)}"
USER = "format=user,defaultaccount"


def rows(out: str) -> list[list[str]]:
    """The records of an answer."""
    return [line.strip().split("|") for line in out.splitlines() if line.strip()]


def books(associations: str, users: str, services: str, accounts: Collection[str], qos: Collection[str]) -> BookState:
    """The part of the books about these accounts and QOS.

    The three answers are lists of associations, users and QOS in our formats. An association without a user is the
    account itself; a cluster has at least the root account's.
    """
    found = [(row[0], row[1], row[2:]) for row in rows(associations)]
    members = frozenset((account, user) for account, user, _ in found if user and account in accounts)
    named = {user for _, user in members}
    terms = {account: _terms(ACCOUNT, values) for account, user, values in found if not user}
    return BookState(
        bool(found),
        # accounts come in no order of ours, and order is no part of the books
        {name: terms[name] for name in accounts if name in terms},
        members,
        {user: account for user, account in rows(users) if user in named and account},
        {name: _terms(QOS, values) for name, *values in rows(services) if name in qos},
        terms.get(ROOT, {}),
    )


def _terms(kind: tuple[Term, ...], values: list[str]) -> Terms:
    return {term.key: term.read(value) for term, value in zip(kind, values)}
