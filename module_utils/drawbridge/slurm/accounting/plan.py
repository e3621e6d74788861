# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What it takes to keep Slurm accounting: names before what refers to them, removals last."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...core.converge import Step
from .terms import ACCOUNT, QOS, ROOT, Term, Terms, downwards, shown, spelled


@dataclass(frozen=True)
class AccountingState:
    """`qos` and `accounts` map names to terms; what counts, inherited or not, in a state that was read.

    `members` are pairs of account and user; `defaults` maps users to accounts; `top` is what the root account hands
    down; `strangers` are users of ours whom the operating system doesn't know. `unwanted` names what must not be there,
    pairs of account or qos and name; `lingering` is what of it is there, with what keeps it.
    """

    cluster: bool
    accounts: Mapping[str, Terms]
    members: frozenset[tuple[str, str]]
    defaults: Mapping[str, str]
    qos: Mapping[str, Terms] = field(default_factory=dict)
    top: Terms = field(default_factory=dict, compare=False)
    strangers: frozenset[str] = field(default=frozenset(), compare=False)
    unwanted: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False)
    lingering: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        users: Mapping[str, Sequence[str]],
        terms: Mapping[str, Mapping[str, str]] | None = None,
        qos: Mapping[str, Mapping[str, str]] | None = None,
        unwanted: frozenset[tuple[str, str]] = frozenset(),
    ) -> AccountingState:
        """The state in which these accounts have exactly these users; the first one named is a user's default.

        Raises ValueError for a term that is none and for accounts in a ring.
        """
        pairs = [(account, user) for account, names in users.items() for user in names]
        defaults = {user: account for account, user in reversed(pairs)}
        accounts = {name: spelled(ACCOUNT, (terms or {}).get(name, {})) for name in users}
        services = {name: spelled(QOS, values) for name, values in (qos or {}).items()}
        downwards({name: own["parent"] for name, own in accounts.items()})
        return cls(True, accounts, frozenset(pairs), defaults, services, unwanted=unwanted)

    def lines(self) -> list[str]:
        """QOS, accounts, then their users; a star marks the user's default."""
        lines = [f"qos {name} {shown(terms)}" for name, terms in sorted(self.qos.items())]
        lines += [f"account {name} {shown(terms)}" for name, terms in sorted(self.accounts.items())]
        for account, user in sorted(self.members):
            lines.append(f"user {user} account {account}{' *' if self.defaults.get(user) == account else ''}")
        lines += [f"{kind} {name} unwanted" for kind, name in sorted(self.lingering)]
        return lines if self.cluster else []


def plan(have: AccountingState, want: AccountingState) -> list[Step[AccountingState]]:
    """Names before what refers to them: QOS, accounts from the top down, users; a new default before the old one goes.

    Slurm refuses to delete a default account, ignores an unknown parent without a word, and makes a new user's first
    account its default, so accounts are filled in the order of the intent.
    """
    steps: list[Step[AccountingState]] = []
    if not have.cluster:
        steps.append(Step("add the cluster", lambda s: replace(s, cluster=True), ["add", "cluster"]))
    if missing := [name for name in want.qos if name not in have.qos]:
        steps.append(_add_qos(missing))
    fresh = spelled(QOS, {})
    for name, terms in want.qos.items():
        steps += _set("qos", name, have.qos.get(name, fresh), terms, terms)
    steps += _accounts(have, want)
    return [*steps, *_users(have, want), *(_remove(item, kept) for item, kept in have.lingering.items())]


def _accounts(have: AccountingState, want: AccountingState) -> list[Step[AccountingState]]:
    """Add what is missing, then set terms: what counts is compared, what is an account's own is written."""
    counts = {ROOT: have.top}
    born: dict[str, Terms] = {}
    for name in downwards({name: terms["parent"] for name, terms in want.accounts.items()}):
        above = counts.get(want.accounts[name]["parent"], have.top)
        counts[name] = _below(above, want.accounts[name])
        if name not in have.accounts:
            born[name] = _below(above, {**spelled(ACCOUNT, {}), "parent": want.accounts[name]["parent"]})
    adds = [
        _add_accounts(parent, {name: born[name] for name in names})
        for parent, names in itertools.groupby(born, key=lambda name: born[name]["parent"])
    ]
    present = {**have.accounts, **born}
    sets = [_set("account", name, present[name], counts[name], own) for name, own in want.accounts.items()]
    return [*adds, *itertools.chain.from_iterable(sets)]


def _below(above: Terms, own: Terms) -> Terms:
    """What counts for an account that has these terms of its own."""
    return {term.key: term.effective(own[term.key], above.get(term.key, "")) for term in ACCOUNT}


def _add_accounts(parent: str, born: Mapping[str, Terms]) -> Step[AccountingState]:
    names = ",".join(born)
    place = "" if parent == ROOT else f" below {parent}"

    def becomes(state: AccountingState) -> AccountingState:
        return replace(state, accounts={**state.accounts, **born})

    return Step(f"add account {names}{place}", becomes, ["add", "account", names, f"parent={parent}"])


def _set(kind: str, name: str, have: Terms, want: Terms, own: Terms) -> list[Step[AccountingState]]:
    """One command for all terms that differ."""
    table: tuple[Term, ...] = QOS if kind == "qos" else ACCOUNT
    changes = [
        term.change(have[term.key], want[term.key], own[term.key]) for term in table if have[term.key] != want[term.key]
    ]
    if not changes:
        return []

    def becomes(state: AccountingState) -> AccountingState:
        if kind == "qos":
            return replace(state, qos={**state.qos, name: want})
        return replace(state, accounts={**state.accounts, name: want})

    argv = ["modify", kind, "where", f"name={name}", "set", *changes]
    return [Step(f"set {kind} {name}: {' '.join(changes)}", becomes, argv)]


def _add_qos(names: list[str]) -> Step[AccountingState]:
    def becomes(state: AccountingState) -> AccountingState:
        return replace(state, qos={**state.qos, **{name: spelled(QOS, {}) for name in names}})

    return Step(f"add qos {','.join(names)}", becomes, ["add", "qos", ",".join(names)])


def _users(have: AccountingState, want: AccountingState) -> list[Step[AccountingState]]:
    steps: list[Step[AccountingState]] = []
    defaults = dict(have.defaults)
    for account in want.accounts:
        new = sorted(user for name, user in want.members - have.members if name == account)
        if known := [user for user in new if user not in have.strangers]:
            steps.append(_add_users(account, known))
            defaults = {**dict.fromkeys(known, account), **defaults}
        if strange := [user for user in new if user in have.strangers]:
            steps.append(_add_users(account, strange, "the controller's system knows no such user"))
    steps += [
        _default(user, account)
        for user, account in sorted(want.defaults.items())
        if defaults.get(user, account if user in have.strangers else "") != account
    ]
    for account in [*want.accounts, *(name for kind, name in have.lingering if kind == "account")]:
        if gone := sorted(user for name, user in have.members - want.members if name == account):
            steps.append(_remove_users(account, gone))
    return steps


def _add_users(account: str, users: list[str], pending: str = "") -> Step[AccountingState]:
    def becomes(state: AccountingState) -> AccountingState:
        members = state.members | {(account, user) for user in users}
        return replace(state, members=members, defaults={**dict.fromkeys(users, account), **state.defaults})

    names = ",".join(users)
    argv = ["add", "user", names, f"account={account}"]
    return Step(f"let {names} charge {account}", becomes, argv, pending)


def _remove(item: tuple[str, str], kept: str) -> Step[AccountingState]:
    """What is kept by something stays whole: its removal is pending."""
    kind, name = item

    def becomes(state: AccountingState) -> AccountingState:
        return replace(state, lingering={other: why for other, why in state.lingering.items() if other != item})

    return Step(f"remove {kind} {name}", becomes, ["delete", kind, "where", f"name={name}"], kept)


def _default(user: str, account: str) -> Step[AccountingState]:
    def becomes(state: AccountingState) -> AccountingState:
        return replace(state, defaults={**state.defaults, user: account})

    argv = ["modify", "user", "where", f"name={user}", "set", f"defaultaccount={account}"]
    return Step(f"make {account} the default account of {user}", becomes, argv)


def _remove_users(account: str, users: list[str]) -> Step[AccountingState]:
    def becomes(state: AccountingState) -> AccountingState:
        members = state.members - {(account, user) for user in users}
        defaults = {user: name for user, name in state.defaults.items() if (name, user) in members}
        return replace(state, members=members, defaults=defaults)

    names = ",".join(users)
    argv = ["delete", "user", "where", f"name={names}", f"account={account}"]
    return Step(f"let {names} charge {account} no longer", becomes, argv)
