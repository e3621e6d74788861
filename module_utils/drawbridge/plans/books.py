# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's books: accounts, who may charge them, and which one a user charges by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..converge import Step


@dataclass(frozen=True)
class BookState:
    """`members` are pairs of account and user; `defaults` maps users to accounts."""

    cluster: bool
    accounts: tuple[str, ...]
    members: frozenset[tuple[str, str]]
    defaults: Mapping[str, str]

    @classmethod
    def of(cls, accounts: Mapping[str, Sequence[str]]) -> BookState:
        """The state in which these accounts have exactly these users; the first one named is a user's default."""
        pairs = [(account, user) for account, users in accounts.items() for user in users]
        defaults = {user: account for account, user in reversed(pairs)}
        return cls(True, tuple(accounts), frozenset(pairs), defaults)

    def lines(self) -> list[str]:
        """Accounts, then their users; a star marks the user's default."""
        lines = [f"account {name}" for name in sorted(self.accounts)]
        for account, user in sorted(self.members):
            lines.append(f"user {user} account {account}{' *' if self.defaults.get(user) == account else ''}")
        return lines if self.cluster else []


def plan(have: BookState, want: BookState) -> list[Step[BookState]]:
    """Accounts before users, a new default before the old one goes: Slurm refuses to delete a default account.

    A new user's first account becomes its default, so accounts are filled in the order of the intent.
    """
    steps: list[Step[BookState]] = []
    if not have.cluster:
        steps.append(Step("add the cluster", lambda s: replace(s, cluster=True), ["add", "cluster"]))
    if missing := [name for name in want.accounts if name not in have.accounts]:
        steps.append(_add_accounts(missing))
    defaults = dict(have.defaults)
    for account in want.accounts:
        if new := sorted(user for name, user in want.members - have.members if name == account):
            steps.append(_add_users(account, new))
            defaults = {**dict.fromkeys(new, account), **defaults}
    steps += [
        _default(user, account) for user, account in sorted(want.defaults.items()) if defaults.get(user) != account
    ]
    for account in want.accounts:
        if gone := sorted(user for name, user in have.members - want.members if name == account):
            steps.append(_remove_users(account, gone))
    return steps


def _add_accounts(names: list[str]) -> Step[BookState]:
    def becomes(state: BookState) -> BookState:
        return replace(state, accounts=(*state.accounts, *names))

    return Step(f"add account {','.join(names)}", becomes, ["add", "account", ",".join(names)])


def _add_users(account: str, users: list[str]) -> Step[BookState]:
    def becomes(state: BookState) -> BookState:
        members = state.members | {(account, user) for user in users}
        return replace(state, members=members, defaults={**dict.fromkeys(users, account), **state.defaults})

    names = ",".join(users)
    return Step(f"let {names} charge {account}", becomes, ["add", "user", names, f"account={account}"])


def _default(user: str, account: str) -> Step[BookState]:
    def becomes(state: BookState) -> BookState:
        return replace(state, defaults={**state.defaults, user: account})

    argv = ["modify", "user", "where", f"name={user}", "set", f"defaultaccount={account}"]
    return Step(f"make {account} the default account of {user}", becomes, argv)


def _remove_users(account: str, users: list[str]) -> Step[BookState]:
    def becomes(state: BookState) -> BookState:
        members = state.members - {(account, user) for user in users}
        defaults = {user: name for user, name in state.defaults.items() if (name, user) in members}
        return replace(state, members=members, defaults=defaults)

    names = ",".join(users)
    argv = ["delete", "user", "where", f"name={names}", f"account={account}"]
    return Step(f"let {names} charge {account} no longer", becomes, argv)
