# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's accounting database in memory, behind sacctmgr, squeue and getent.

It refuses as Slurm does: users and accounts with jobs stay. So does a user's default account while the user has another
one. Limits by TRES merge, and -1 removes one. Accounts inherit what sacctmgr shows of those above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.terms import (
    ACCOUNT,
    EXTENDED,
    ROOT,
    Term,
    amounts,
)

BY_TRES = {term.key for term in (*ACCOUNT, *EXTENDED) if term.read is amounts}
COLUMNS = {term.column: term for term in (*EXTENDED, *ACCOUNT)}
ACTIVE = "Error with request: Job(s) active, cancel job(s) before remove"


@dataclass
class Sacctmgr:
    """Accounts and QOS with their settings by sacctmgr's names, users, and jobs by number."""

    accounts: dict[str, dict[str, str]] = field(default_factory=lambda: {ROOT: {"parent": "", "qos": "normal"}})
    qos: dict[str, dict[str, str]] = field(default_factory=lambda: {"normal": {}})
    members: set[tuple[str, str]] = field(default_factory=set)
    defaults: dict[str, str] = field(default_factory=dict)
    jobs: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Account and user."""

    def takes_jobs(self, account: str) -> bool:
        """Whether anyone can submit jobs of an account."""
        people = any(name == account for name, _user in self.members)
        return people and self.accounts[account].get("GrpSubmitJobs") != "0"

    def writes(self, argv: Sequence[str]) -> bool:
        """Whether a command changes something."""
        return argv[:2] == ["sacctmgr", "-i"]

    def run(self, argv: Sequence[str]) -> Completed:
        """Any command that slurm_accounting and slurm_account_jobs run."""
        if argv[0] == "getent":
            return Completed(0, "".join(f"{name}:x:1:1\n" for name in argv[2:]), "")
        if argv[0] == "squeue":
            return Completed(0, "".join(self._jobs(argv)), "")
        if argv[1] == "-nP":
            return Completed(0, "".join(f"{'|'.join(row)}\n" for row in self._listed(argv[3], argv[-1])), "")
        verb, what, *rest = argv[2:]
        getattr(self, f"_{verb}")(what, rest)
        return Completed(0, "", "")

    def _jobs(self, argv: Sequence[str]) -> Iterator[str]:
        kind, _, names = argv[-1].lstrip("-").partition("=")
        if kind == "account":
            found = {job: it for job, it in self.jobs.items() if it[0] in names.split(",")}
        else:
            found = {job: it for job, it in self.jobs.items() if f"project-{it[0]}" in names.split(",")}
        for job, (account, _user) in found.items():
            yield f"{job}|RUNNING|{account}\n" if "%T" in " ".join(argv) else f"{job}\n"

    def _listed(self, what: str, columns: str) -> Iterator[list[str]]:
        names = columns.partition("=")[2].split(",")
        if what == "cluster":
            yield ["lab"]
        elif what == "user":
            yield from ([user, account] for user, account in sorted(self.defaults.items()))
        elif what == "qos":
            for name, terms in self.qos.items():
                yield [name, *(self._value(COLUMNS[it], terms) for it in names[1:])]
        else:
            for account in self.accounts:
                row = [self._effective(account, COLUMNS[it]) for it in names[2:]]
                yield [account, "", *row]
                yield from ([account, user, "", *row[1:]] for name, user in sorted(self.members) if name == account)

    def _value(self, term: Term, terms: dict[str, str]) -> str:
        return terms.get(term.key, term.preset)

    def _effective(self, account: str, term: Term) -> str:
        own = self.accounts[account]
        above = self._effective(own["parent"], term) if term.inherited and own["parent"] else ""
        return term.effective(self._value(term, own), above)

    def _add(self, what: str, words: list[str]) -> None:
        names, given = words[0].split(","), dict(word.split("=", 1) for word in words[1:])
        if what == "account":
            self.accounts.update((name, {"parent": given["parent"]}) for name in names)
        elif what == "qos":
            self.qos.update((name, {}) for name in names)
        elif what == "user":
            self.members |= {(given["account"], name) for name in names}
            self.defaults = {**dict.fromkeys(names, given["account"]), **self.defaults}

    def _modify(self, what: str, words: list[str]) -> None:
        at = words.index("set")
        name, changes = words[1].partition("=")[2], dict(word.split("=", 1) for word in words[at + 1 :])
        if what == "user":
            assert (changes["defaultaccount"], name) in self.members
            self.defaults[name] = changes["defaultaccount"]
            return
        table, kinds = (self.qos, EXTENDED) if what == "qos" else (self.accounts, ACCOUNT)
        for key, value in changes.items():
            [term] = [it for it in kinds if it.key == key]
            if key in BY_TRES:
                parts = dict(it.split("=") for it in f"{table[name].get(key, '')},{value}".split(",") if it)
                table[name][key] = ",".join(f"{tres}={number}" for tres, number in parts.items() if number != "-1")
            else:
                table[name][key] = term.preset if value == term.unset else value

    def _delete(self, what: str, words: list[str]) -> None:
        given = dict(word.split("=", 1) for word in words[1:])
        names = given["name"].split(",")
        if what == "qos":
            for name in names:
                del self.qos[name]
            return
        gone = {
            (account, user)
            for account, user in self.members
            if (account in names if what == "account" else account == given["account"] and user in names)
        }
        if any(account in {name for name, _ in gone} | {*names} for account, _ in self.jobs.values()):
            raise DeviceError("sacctmgr failed", rc=1, stdout="", stderr=ACTIVE)
        self.members -= gone
        for account, user in gone:
            if self.defaults.get(user) == account:
                assert not any(name == user for _, name in self.members), f"{account} is the default of {user}"
                del self.defaults[user]
        if what == "account":
            for name in names:
                del self.accounts[name]
