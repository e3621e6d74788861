# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps that bring Slurm accounting to the intent: names before references to them, deletions last."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...core.converge import Step
from .ends import CLOSED
from .terms import ACCOUNT, QOS, ROOT, Term, Terms, normalized, of_qos, parents_first, shown


@dataclass(frozen=True)
class AccountingState:
    """QOS, accounts, their users, and deletions.

    `qos` and `accounts` map names to terms; a state that was read has effective terms, inherited ones too. `members`
    are pairs of account and user, and `defaults` maps users to accounts. `top` holds the root account's terms, which
    others inherit. `kept` are the settings of QOS that Drawbridge keeps. `site_users` are accounts whose users the site
    keeps. `unknown_users` are missing in the operating system. `unread` has people who should charge an account and
    can't, each with the reason; accounts in `incomplete` lose no user. `to_delete` has pairs of kind and name;
    `deletions` has those that exist, each with the reason why it can't be deleted now. `with_jobs` has accounts among
    these that have jobs, and whether they take more.
    """

    cluster: bool
    accounts: Mapping[str, Terms]
    members: frozenset[tuple[str, str]]
    defaults: Mapping[str, str]
    qos: Mapping[str, Terms] = field(default_factory=dict)
    top: Terms = field(default_factory=dict, compare=False)
    kept: tuple[Term, ...] = field(default=QOS, compare=False)
    site_users: frozenset[str] = field(default=frozenset(), compare=False)
    unknown_users: frozenset[str] = field(default=frozenset(), compare=False)
    unread: Mapping[str, Mapping[str, str]] = field(default_factory=dict, compare=False)
    incomplete: frozenset[str] = field(default=frozenset(), compare=False)
    to_delete: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False)
    deletions: Mapping[tuple[str, str], str] = field(default_factory=dict)
    with_jobs: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        users: Mapping[str, Sequence[str]],
        terms: Mapping[str, Mapping[str, str]] | None = None,
        qos: Mapping[str, Mapping[str, str]] | None = None,
        to_delete: frozenset[tuple[str, str]] = frozenset(),
        site_users: frozenset[str] = frozenset(),
    ) -> AccountingState:
        """The wanted state. A user's first account is the default one.

        Raises ValueError for an unknown term, a wrong value, and for accounts in a ring.
        """
        pairs = [(account, user) for account, names in users.items() for user in names if account not in site_users]
        defaults = {user: account for account, user in reversed(pairs)}
        accounts = {name: normalized(ACCOUNT, (terms or {}).get(name, {})) for name in users}
        kept = of_qos((qos or {}).values())
        services = {name: normalized(kept, values) for name, values in (qos or {}).items()}
        parents_first({name: own["parent"] for name, own in accounts.items()})
        state = cls(True, accounts, frozenset(pairs), defaults, services, kept=kept)
        return replace(state, site_users=site_users, to_delete=to_delete)

    def lines(self) -> list[str]:
        """QOS, accounts, then their users; a star marks the user's default."""
        lines = [f"qos {name} {shown(terms)}" for name, terms in sorted(self.qos.items())]
        lines += [f"account {name} {shown(terms)}" for name, terms in sorted(self.accounts.items())]
        for account, user in sorted(self.members):
            lines.append(f"user {user} account {account}{' *' if self.defaults.get(user) == account else ''}")
        lines += [f"{kind} {name} unwanted" for kind, name in sorted(self.deletions)]
        lines += [f"account {name} takes jobs" for name, takes in sorted(self.with_jobs.items()) if takes]
        return lines if self.cluster else []


def plan(have: AccountingState, want: AccountingState) -> list[Step[AccountingState]]:
    """First QOS, then accounts from the top down, then users; a new default before the old account goes.

    Slurm refuses to delete a default account and silently ignores an unknown parent. It makes a new user's first
    account its default, so accounts get their users in the order of the intent.
    """
    steps: list[Step[AccountingState]] = []
    if not have.cluster:
        steps.append(Step("add the cluster", lambda s: replace(s, cluster=True), ["add", "cluster"]))
    fresh = normalized(want.kept, {})
    if missing := {name: fresh for name in want.qos if name not in have.qos}:
        names = ",".join(missing)
        steps.append(Step(f"add qos {names}", lambda s: replace(s, qos={**s.qos, **missing}), ["add", "qos", names]))
    for name, terms in want.qos.items():
        steps += _set("qos", want.kept, name, (have.qos.get(name, fresh), terms, terms))
    steps += _accounts(have, want)
    steps += [_close(name) for name, takes in have.with_jobs.items() if takes]
    return [*steps, *_users(have, want), *(_remove(item, kept) for item, kept in have.deletions.items())]


def _accounts(have: AccountingState, want: AccountingState) -> list[Step[AccountingState]]:
    """Add missing accounts, then set terms. Effective terms are compared, an account's own terms are written."""
    counts = {ROOT: have.top}
    added: dict[str, Terms] = {}
    for name in parents_first({name: terms["parent"] for name, terms in want.accounts.items()}):
        above = counts.get(want.accounts[name]["parent"], have.top)
        counts[name] = _effective(above, want.accounts[name])
        if name not in have.accounts:
            added[name] = _effective(above, {**normalized(ACCOUNT, {}), "parent": want.accounts[name]["parent"]})
    adds = [
        _add_accounts(parent, {name: added[name] for name in names})
        for parent, names in itertools.groupby(added, key=lambda name: added[name]["parent"])
    ]
    present = {**have.accounts, **added}
    sets = [_set("account", ACCOUNT, name, (present[name], counts[name], own)) for name, own in want.accounts.items()]
    return [*adds, *itertools.chain.from_iterable(sets)]


def _effective(above: Terms, own: Terms) -> Terms:
    """The effective terms of an account."""
    return {term.key: term.effective(own[term.key], above.get(term.key, "")) for term in ACCOUNT}


def _add_accounts(parent: str, added: Mapping[str, Terms]) -> Step[AccountingState]:
    names = ",".join(added)
    place = "" if parent == ROOT else f" below {parent}"
    argv = ["add", "account", names, f"parent={parent}"]
    return Step(f"add account {names}{place}", lambda s: replace(s, accounts={**s.accounts, **added}), argv)


def _set(
    kind: str, table: tuple[Term, ...], name: str, terms: tuple[Terms, Terms, Terms]
) -> list[Step[AccountingState]]:
    """One command for all terms that differ: those that it has, should have, and should have of its own."""
    have, want, own = terms
    changes = [
        term.change(have[term.key], want[term.key], own[term.key]) for term in table if have[term.key] != want[term.key]
    ]
    if not changes:
        return []
    field = "qos" if kind == "qos" else "accounts"
    argv = ["modify", kind, "where", f"name={name}", "set", *changes]
    reason = f"set {kind} {name}: {' '.join(changes)}"
    return [Step(reason, lambda s: replace(s, **{field: {**getattr(s, field), name: want}}), argv)]


def _users(have: AccountingState, want: AccountingState) -> list[Step[AccountingState]]:
    steps: list[Step[AccountingState]] = []
    defaults = dict(have.defaults)
    for account in want.accounts:
        new = sorted(user for name, user in want.members - have.members if name == account)
        if known := [user for user in new if user not in have.unknown_users]:
            steps.append(_add_users(account, known))
            defaults = {**dict.fromkeys(known, account), **defaults}
        if unknown := [user for user in new if user in have.unknown_users]:
            steps.append(_add_users(account, unknown, "the controller's operating system has no such user"))
    steps += itertools.chain.from_iterable(_unread(account, want) for account in want.accounts)
    steps += [
        _default(user, account)
        for user, account in sorted(want.defaults.items())
        if defaults.get(user, account if user in have.unknown_users else "") not in {account, *want.site_users}
    ]
    # Slurm removes no user who has jobs
    leaving = [name for kind, name in have.deletions if kind == "account" and name not in have.with_jobs]
    for account in [*want.accounts, *leaving]:
        gone = sorted(user for name, user in have.members - want.members if name == account)
        if gone and account not in want.incomplete:
            steps.append(_remove_users(account, gone))
    return steps


def _unread(account: str, want: AccountingState) -> list[Step[AccountingState]]:
    reasons = want.unread.get(account, {})
    return [Step(f"let {who} charge {account}", lambda s: s, pending=reason) for who, reason in reasons.items()]


def _add_users(account: str, users: list[str], pending: str = "") -> Step[AccountingState]:
    def becomes(state: AccountingState) -> AccountingState:
        members = state.members | {(account, user) for user in users}
        return replace(state, members=members, defaults={**dict.fromkeys(users, account), **state.defaults})

    names = ",".join(users)
    argv = ["add", "user", names, f"account={account}"]
    return Step(f"let {names} charge {account}", becomes, argv, pending)


def _remove(item: tuple[str, str], kept: str) -> Step[AccountingState]:
    kind, name = item

    def becomes(state: AccountingState) -> AccountingState:
        return replace(state, deletions={other: why for other, why in state.deletions.items() if other != item})

    return Step(f"remove {kind} {name}", becomes, ["delete", kind, "where", f"name={name}"], kept)


def _close(name: str) -> Step[AccountingState]:
    """An account with jobs can't be deleted. One that took more of them might never be."""
    argv = ["modify", "account", "where", f"name={name}", "set", f"GrpSubmitJobs={CLOSED}"]
    reason = f"let account {name} submit no more jobs, because it must be removed"
    return Step(reason, lambda s: replace(s, with_jobs={**s.with_jobs, name: False}), argv)


def _default(user: str, account: str) -> Step[AccountingState]:
    argv = ["modify", "user", "where", f"name={user}", "set", f"defaultaccount={account}"]
    reason = f"make {account} the default account of {user}"
    return Step(reason, lambda s: replace(s, defaults={**s.defaults, user: account}), argv)


def _remove_users(account: str, users: list[str]) -> Step[AccountingState]:
    def becomes(state: AccountingState) -> AccountingState:
        members = state.members - {(account, user) for user in users}
        defaults = {user: name for user, name in state.defaults.items() if (name, user) in members}
        return replace(state, members=members, defaults=defaults)

    names = ",".join(users)
    argv = ["delete", "user", "where", f"name={names}", f"account={account}"]
    return Step(f"let {names} charge {account} no longer", becomes, argv)
