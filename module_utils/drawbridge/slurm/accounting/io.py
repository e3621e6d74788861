# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm accounting, through sacctmgr."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...core.command import Run
from ...core.converge import DeviceError, Step
from . import people
from . import text as sacctmgr
from .plan import AccountingState, plan

ADD_USER = ["add", "user"]
LIMITS = (["modify", "account"], ["modify", "qos"])
NOT_ALL_FOUND = 2
"""getent's code when the system lacks one of the names."""


class Accounting:
    """The accounting database of one cluster."""

    name = "Slurm accounting"

    def __init__(self, run: Run, cluster: str, want: AccountingState) -> None:
        self._run, self._cluster, self._want = run, f"cluster={cluster}", want

    def unreachable(self, patience_s: float) -> str:
        """Why slurmdbd can't be read after `patience_s`; empty if it answers."""
        deadline = time.monotonic() + patience_s
        while True:
            try:
                self._list("cluster", "format=cluster")
            except DeviceError as err:
                if time.monotonic() >= deadline:
                    return f"slurmdbd does not answer yet ({err})"
                time.sleep(0.5)
            else:
                return ""

    def read(self) -> AccountingState:
        """Read the accounts and QOS that the intent declares or deletes."""
        want = self._want
        associations = self._list("assoc", self._cluster, sacctmgr.ASSOCIATION)
        users = self._list("user", sacctmgr.USER)
        services = self._list("qos", sacctmgr.service(want.kept)) if want.qos or want.to_delete else ""
        have = sacctmgr.accounting(associations, users, services, want)
        if have.deletions:
            have = sacctmgr.accounting(associations, users, services, want, self._busy(have.deletions))
        new = {user for _unused, user in want.members - have.members}
        return replace(have, unknown_users=frozenset(new - self._known(new)))

    def _busy(self, items: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """The items that have jobs. Slurm refuses to delete an account with jobs, but deletes a QOS with jobs."""
        squeue = ["squeue", "--noheader", "--format=%A"]
        jobs = {item: self._run([*squeue, f"--{item[0]}={item[1]}"]).out.split() for item in items}
        return {item: f"job {found[0]} has it; run again when it is over" for item, found in jobs.items() if found}

    def _known(self, users: set[str]) -> set[str]:
        """Users that the operating system has. Slurm stores other names too, but they can't submit jobs."""
        if not users:
            return set()
        answer = self._run(["getent", "passwd", *sorted(users)], ok=(0, NOT_ALL_FOUND))
        return {line.partition(":")[0] for line in answer.out.splitlines()}

    def apply(self, steps: Sequence[Step[AccountingState]]) -> None:
        """Run the steps; -i answers every question with yes. People come after limits that were read back."""
        limited = False
        for step in steps:
            kind = step.payload[:2]
            if limited and kind == ADD_USER:
                self._prove_limits()
            limited = kind != ADD_USER and (limited or kind in LIMITS)
            self._run(["sacctmgr", "-i", *self._scoped(step.payload)])

    def _prove_limits(self) -> None:
        """Raises DeviceError if a limit is not in effect: sacctmgr may exit with 0 all the same."""
        left = [step.reason for step in plan(self.read(), self._want) if step.payload and step.payload[:2] in LIMITS]
        if left:
            raise DeviceError(f"sacctmgr reported success, but the change is not in effect: {left[0]}")

    def _scoped(self, argv: list[str]) -> list[str]:
        """Add the cluster as a condition before `set`. QOS belong to no cluster."""
        if argv[1] == "qos":
            return argv
        if argv == ["add", "cluster"]:
            return [*argv, self._cluster.partition("=")[2]]
        place = argv.index("set") if "set" in argv else len(argv)
        return [*argv[:place], self._cluster, *argv[place:]]

    def _list(self, what: str, *conditions: str) -> str:
        return self._run(["sacctmgr", "-nP", "list", what, *conditions]).out


def members(run: Run, groups: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """People of each group that the operating system has. A group that it lacks is missing. Raises DeviceError."""
    found: dict[str, str] = {}
    for name in sorted(set(groups)):
        answer = run(["getent", "group", name], ok=(0, NOT_ALL_FOUND))
        if answer.rc == 0:
            found[name] = answer.out
    passwd = run(["getent", "passwd"]).out if found else ""
    return {name: people.of_group(line, passwd) for name, line in found.items()}
