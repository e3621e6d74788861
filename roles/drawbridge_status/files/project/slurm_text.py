# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's commands for projects, and their output. Pure.

No column has a text that a job's user chose: it could contain the separator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .model import Account, Waiting

TABLE = ("--noheader", "--parsable2")
RESOURCES = {"gres/gpu": "gpu", "cpu": "cpu", "node": "node"}
JOB = ("JobID", "User", "State", "Submit", "Eligible", "Start", "End", "AllocTRES")
WAITING = ("JobArrayID", "UserName", "State", "Reason")
_PRIVATE = re.compile(r"^PrivateData\s*=\s*(\S+)\s*$", re.MULTILINE)
_GPUS = re.compile(r"(?:^|,)gres/gpu=([0-9]+)")


class Hours(NamedTuple):
    """Use of resources, in hours."""

    gpu: float = 0.0
    cpu: float = 0.0
    node: float = 0.0

    def plus(self, other: Hours) -> Hours:
        """The sum."""
        return Hours(*(one + two for one, two in zip(self, other)))


class Run(NamedTuple):
    """One run of a job; a job that was requeued has several. Seconds since the epoch; 0: not yet."""

    job: str
    user: str
    state: str
    ready: float
    """Since when it could start."""
    start: float
    end: float
    gpus: int


def associations(cluster: str, names: Iterable[str] = (), people: bool = True) -> tuple[str, ...]:
    """The command that lists accounts, with or without their users; without names, all of them."""
    own = ",".join(names)
    where = ("where", f"cluster={cluster}", *([f"account={own}"] if own else []), *([] if people else ["user="]))
    return ("sacctmgr", *TABLE, "list", "assoc", *where, "format=account,user,grpsubmit")


def accounts(text: str) -> dict[str, Account]:
    """Its output. With PrivateData, a user does not see the row of the account itself."""
    found: dict[str, Account] = {}
    for account, user, submits in _rows(text, 3):
        had = found.get(account, Account())
        found[account] = had._replace(users=(*had.users, user)) if user else had._replace(submits=submits)
    return found


def own(cluster: str, user: str) -> tuple[str, ...]:
    """The command that lists the accounts of a user."""
    return ("sacctmgr", *TABLE, "list", "assoc", "where", f"cluster={cluster}", f"user={user}", "format=account")


def names(text: str) -> frozenset[str]:
    """Its output."""
    return frozenset(line.strip() for line in text.splitlines() if line.strip())


def level(user: str) -> tuple[str, ...]:
    """The command that shows a user's rights in accounting."""
    return ("sacctmgr", *TABLE, "list", "user", "where", f"name={user}", "format=adminlevel")


def sees_all(text: str) -> bool:
    """Whether the user sees what PrivateData hides."""
    return text.strip() in ("Operator", "Administrator", "Admin")


CONFIGURATION = ("sacctmgr", *TABLE, "show", "configuration")


def hidden(text: str) -> frozenset[str]:
    """Its output: what PrivateData of slurmctld or slurmdbd hides, such as usage."""
    words = {word for found in _PRIVATE.findall(text) for word in found.split(",")}
    return frozenset(words - {"none", "(null)"})


def use(window: tuple[str, str], account: str = "") -> tuple[str, ...]:
    """The command that sums the use of accounts in a window, by slurmdbd's own sums of whole hours."""
    where = (f"Start={window[0]}", f"End={window[1]}", *([f"Accounts={account}"] if account else []))
    form = ("-t", "Seconds", f"--tres={','.join(RESOURCES)}")
    return ("sreport", *TABLE, *form, *("cluster", "AccountUtilizationByUser"), *where, f"Format={_USE}")


_USE = "Account,Login,TRESName,Used"


def used(text: str) -> dict[str, dict[str, Hours]]:
    """Its output, by account and user. Rows of accounts have the sums of accounts below them, and are left out."""
    found: dict[str, dict[str, Hours]] = {}
    for account, user, resource, seconds in _rows(text, 4):
        if user and resource in RESOURCES and seconds.isdigit():
            users = found.setdefault(account, {})
            one = Hours(**{RESOURCES[resource]: int(seconds) / 3600})
            users[user] = users.get(user, Hours()).plus(one)
    return found


def runs(account: str, window: tuple[str, str]) -> tuple[str, ...]:
    """The command that lists the runs of an account's jobs in a window."""
    days = (f"--starttime={window[0]}", f"--endtime={window[1]}")
    whole = ("--allusers", "--allocations", "--duplicates")
    return ("sacct", *TABLE, *whole, f"--accounts={account}", *days, f"--format={','.join(JOB)}")


def parsed_runs(text: str) -> list[Run]:
    """Its output, with times as seconds (SLURM_TIME_FORMAT=%s)."""
    return [_run(row) for row in _rows(text, len(JOB))]


def _run(row: list[str]) -> Run:
    job, user, state, submitted, eligible, start, end, tres = row
    gpus = _GPUS.search(tres)
    ready = max(_seconds(submitted), _seconds(eligible))
    return Run(job, user, state.split(" ")[0], ready, _seconds(start), _seconds(end), int(gpus[1]) if gpus else 0)


def waiting(account: str) -> tuple[str, ...]:
    """The command that lists an account's jobs that wait or run."""
    form = ",".join(f"{column}:0|" for column in WAITING)
    where = ("--all", "--noheader", f"--account={account}", "--states=PENDING,RUNNING")
    return ("squeue", *where, f"--Format={form}")


def parsed_waiting(text: str) -> list[Waiting]:
    """Its output."""
    return [Waiting(*row[:4]) for row in _rows(text, 5)]


def _rows(text: str, columns: int) -> list[list[str]]:
    """Lines with so many columns; others are skipped."""
    rows = ([word.strip() for word in line.split("|")] for line in text.splitlines())
    return [row for row in rows if len(row) == columns]


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() else 0.0
