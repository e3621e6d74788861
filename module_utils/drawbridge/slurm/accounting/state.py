# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's books: quality of service, accounts and their shares and limits, who may charge them and by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .terms import ACCOUNT, QOS, Terms, shown, spelled


@dataclass(frozen=True)
class BookState:
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
    ) -> BookState:
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


def downwards(parents: Mapping[str, str]) -> list[str]:
    """Accounts after their parents, otherwise in the given order. Raises ValueError for a ring."""
    ordered: list[str] = []
    while waiting := [name for name in parents if name not in ordered]:
        ready = [name for name in waiting if parents[name] not in waiting]
        if not ready:
            raise ValueError(f"accounts {', '.join(waiting)} are below one another")
        ordered += ready
    return ordered
