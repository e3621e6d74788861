# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What `sacctmgr -nP` lists: fields between bars, one record a line, no header."""

from __future__ import annotations

from collections.abc import Collection

from ..plans.books import BookState


def rows(out: str) -> list[list[str]]:
    """The records of an answer."""
    return [line.strip().split("|") for line in out.splitlines() if line.strip()]


def books(associations: str, users: str, ours: Collection[str]) -> BookState:
    """The part of the books about our accounts.

    `associations` is `list assoc format=account,user`, `users` is `list user format=user,defaultaccount`. An
    association without a user is the account itself; a cluster has at least the root account's.
    """
    found = rows(associations)
    accounts = tuple(account for account, user in found if not user and account in ours)
    members = frozenset((account, user) for account, user in found if user and account in ours)
    named = {user for _, user in members}
    defaults = {user: account for user, account in rows(users) if user in named and account}
    return BookState(bool(found), accounts, members, defaults)
