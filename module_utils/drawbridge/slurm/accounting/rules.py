# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of Slurm accounting: names that exist, trees without rings, limits that can be met."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from ...core.faults import Fault
from ...core.rules import doubled
from ...nodes.model import Nodes
from ..model import Slurm
from .ends import day
from .model import NORMAL, PERIODS, SITE, Account, Amount, Qos

ROOT = "root"
"""Slurm creates this account itself."""
NEVER = PERIODS[0]


def qos_refer_to_each_other(slurm: Slurm) -> Iterator[Fault]:
    """A QOS preempts only QOS of lower priority; otherwise two jobs could preempt each other endlessly."""
    named = {qos.name: qos for qos in slurm.qos}
    yield from doubled("drawbridge_slurm.qos", [qos.name for qos in slurm.qos], "give every QOS a name of its own")
    for index, qos in enumerate(slurm.qos):
        key = f"drawbridge_slurm.qos[{index}]"
        for other in qos.preempt:
            if other not in named and other != NORMAL:
                yield _unknown_key(f"{key}.preempt", other, {NORMAL, *named})
            elif other == qos.name:
                yield Fault(f"{key}.preempt", other, "a QOS can't preempt itself", f"remove {other}")
            elif _priority(named, other) >= qos.priority:
                reason = f"{other} has priority {_priority(named, other)}, so its preempted job would be first again"
                repair = f"raise {key}.priority above {_priority(named, other)}"
                yield Fault(f"{key}.priority", qos.priority, reason, repair)


def accounts_refer_to_qos(slurm: Slurm) -> Iterator[Fault]:
    """The QOS of an account exist, and its default is one of them."""
    known = slurm.known_qos
    accounts = {account.name: account for account in slurm.accounts}
    for index, account in enumerate(slurm.accounts):
        key = f"drawbridge_slurm.accounts[{index}]"
        for name in account.qos:
            if name not in known:
                yield _unknown_key(f"{key}.qos", name, known)
        allowed = _allowed(account, accounts)
        if account.default_qos and account.default_qos not in allowed:
            reason = f"its jobs may use only {', '.join(allowed)}"
            repair = f"add {account.default_qos} to {key}.qos, or set one of {', '.join(allowed)}"
            yield Fault(f"{key}.default_qos", account.default_qos, reason, repair)


def accounts_are_a_tree(slurm: Slurm) -> Iterator[Fault]:
    """Parents exist and form no ring; the account and the user root are Slurm's own."""
    accounts = {account.name: account for account in slurm.accounts}
    for index, account in enumerate(slurm.accounts):
        key = f"drawbridge_slurm.accounts[{index}]"
        if account.name == ROOT:
            yield Fault(f"{key}.name", ROOT, "Slurm itself creates this account, above all others", "rename it")
        if ROOT in account.users:
            yield Fault(f"{key}.users", ROOT, "root administers accounting and charges root", "remove it from users")
        yield from doubled(f"{key}.users", list(account.users), "name every user once")
        if account.parent != ROOT and account.parent not in accounts:
            yield _unknown_key(f"{key}.parent", account.parent, {ROOT, *accounts})
        elif account.name in (above := _above(account, accounts)):
            ring = " below ".join([account.name, *above])
            yield Fault(f"{key}.parent", account.parent, f"{ring} is a ring", "set parent: root on one of them")


def absent_names_are_not_declared(slurm: Slurm) -> Iterator[Fault]:
    """Names to delete are not declared, and are not Slurm's own."""
    own = {"accounts": ROOT, "qos": NORMAL}
    for kind, declared in (("accounts", slurm.accounts), ("qos", slurm.qos)):
        key, names = f"drawbridge_slurm.absent.{kind}", getattr(slurm.absent, kind)
        for name in names:
            if name == own[kind]:
                yield Fault(key, name, "Slurm needs it and creates it again", f"remove {name}")
            elif name in {item.name for item in declared}:
                reason = f"drawbridge_slurm.{kind} declares it"
                yield Fault(key, name, reason, f"remove it from one of them: {key} deletes it")
        yield from doubled(key, list(names), "name each once")


def limits_can_be_met(slurm: Slurm) -> Iterator[Fault]:
    """No limit is above a wider limit, which would make it useless."""
    accounts = {account.name: account for account in slurm.accounts}
    for index, account in enumerate(slurm.accounts):
        key = f"drawbridge_slurm.accounts[{index}]"
        yield from _within(key, "per_job", account.per_job, "total", account.total)
        parent = accounts.get(account.parent)
        if parent and parent is not account:
            yield from _within(key, "total", account.total, f"total of its parent {parent.name}", parent.total)
        yield from _counted(key, "jobs", account.jobs, "submits", account.submits)
    for index, qos in enumerate(slurm.qos):
        key = f"drawbridge_slurm.qos[{index}]"
        yield from _within(key, "per_job", qos.per_job, "per_user", qos.per_user)
        yield from _within(key, "per_user", qos.per_user, "total", qos.total)
        yield from _counted(key, "jobs_per_user", qos.jobs_per_user, "submits_per_user", qos.submits_per_user)


def accounts_end_on_days(slurm: Slurm) -> Iterator[Fault]:
    """An end date is a day, and groups have people that Drawbridge may add."""
    for index, account in enumerate(slurm.accounts):
        key = f"drawbridge_slurm.accounts[{index}]"
        if account.ends and not day(account.ends):
            yield Fault(f"{key}.ends", account.ends, "no calendar has this day", "write a day that exists")
        if account.groups and account.users == SITE:
            reason = "users is site, so that Drawbridge adds no user"
            yield Fault(f"{key}.groups", list(account.groups), reason, "list users, or remove groups")
        yield from doubled(f"{key}.groups", list(account.groups), "name every group once")


def budgets_limit_something(slurm: Slurm, nodes: Nodes) -> Iterator[Fault]:
    """A period needs hours, and Slurm counts GPUs only where nodes have them."""
    gpus = any(build.gpus.count for build in nodes.classes.values())
    for index, qos in enumerate(slurm.qos):
        key = f"drawbridge_slurm.qos[{index}]"
        yield from doubled(f"{key}.flags", list(qos.flags), "name every flag once")
        if not qos.budget:
            continue
        if qos.budget.period != NEVER and not qos.budget.limits:
            reason = "gpu_hours, cpu_hours and node_hours are all -1, so nothing is limited"
            yield Fault(f"{key}.budget.period", qos.budget.period, reason, "set one of them, or remove period")
        if qos.budget.gpu_hours >= 0 and not gpus:
            reason = "no node class has GPUs, and slurmdbd refuses a limit of what it does not count"
            yield Fault(f"{key}.budget.gpu_hours", qos.budget.gpu_hours, reason, "remove it, or set node_hours")


def budgets_and_ends_stay_in_force(slurm: Slurm) -> Iterator[Fault]:
    """The site's AccountingStorageEnforce replaces Drawbridge's. Slurm ignores all limits without `limits`.

    Without `safe` it starts jobs that do not fit into a budget, and kills them when the budget is spent.
    """
    key = "AccountingStorageEnforce"
    value = slurm.settings.get(key, "all")
    words = {word.strip().lower() for word in value.split(",")}
    budgets = [qos.name for qos in slurm.qos if qos.budget and qos.budget.limits]
    ended = [account.name for account in slurm.accounts if account.closed or account.ends]
    if "all" in words:
        return
    if budgets and not words >= {"qos", "safe"}:
        reason = f"QOS {budgets[0]} has a budget, and Slurm would start jobs that do not fit into it"
        yield Fault(f"drawbridge_slurm.settings.{key}", value, reason, f"add qos and safe, or remove {key}")
    elif ended and not words & {"limits", "safe"}:
        reason = f"account {ended[0]} is closed or ends, and Slurm would take its jobs"
        yield Fault(f"drawbridge_slurm.settings.{key}", value, reason, f"add limits, or remove {key}")


def _within(key: str, inner: str, small: Amount, outer: str, large: Amount) -> Iterator[Fault]:
    for field in dataclasses.fields(Amount):
        have, most = getattr(small, field.name), getattr(large, field.name)
        if have > most >= 0:
            reason = f"{outer} allows only {most}"
            yield Fault(f"{key}.{inner}.{field.name}", have, reason, f"lower it to {most}, or raise {outer}")


def _counted(key: str, running: str, run: int, waiting: str, wait: int) -> Iterator[Fault]:
    if run > wait >= 0:
        reason = f"{waiting} allows {wait}, and it counts running jobs too"
        yield Fault(f"{key}.{running}", run, reason, f"lower it to {wait}, or raise {waiting}")


def _allowed(account: Account, accounts: dict[str, Account]) -> tuple[str, ...]:
    """QOS of the nearest account that names any."""
    for name in [account.name, *_above(account, accounts)]:
        if accounts[name].qos:
            return accounts[name].qos
    return (NORMAL,)


def _above(account: Account, accounts: dict[str, Account]) -> list[str]:
    """The ancestors of this account, the parent first; in a ring each of them once."""
    names: list[str] = []
    while account.parent in accounts and account.parent not in names:
        names.append(account.parent)
        account = accounts[account.parent]
    return names


def _priority(named: dict[str, Qos], name: str) -> int:
    return named[name].priority if name in named else 0


def _unknown_key(key: str, name: str, known: Iterable[str]) -> Fault:
    return Fault(key, name, "it is not declared", f"declare it, or use one of {', '.join(sorted(known))}")


RULES = (
    qos_refer_to_each_other,
    accounts_refer_to_qos,
    accounts_are_a_tree,
    absent_names_are_not_declared,
    limits_can_be_met,
    accounts_end_on_days,
    budgets_limit_something,
    budgets_and_ends_stay_in_force,
)
