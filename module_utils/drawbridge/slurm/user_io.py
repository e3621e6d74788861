# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages, and the user slurm where they bring none: it has the same number on all hosts, which Slurm compares."""

from __future__ import annotations

import pwd
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from ..core.command import Run
from ..core.converge import Step
from ..core.packages.plan import PackageState

USER = "slurm"
NOWHERE = "/nonexistent"


class Packages(Protocol):
    """What apt's and dnf's packages have in common."""

    name: str

    def read(self) -> PackageState:
        """What is installed."""
        ...

    def apply(self, steps: Sequence[Step[PackageState]]) -> None:
        """Install."""
        ...


class WithUser:
    """Packages that need the user slurm first."""

    def __init__(self, packages: Packages, run: Run) -> None:
        self.name, self._packages, self._run = packages.name, packages, run

    def read(self) -> PackageState:
        """The packages, and the user's number."""
        try:
            number = pwd.getpwnam(USER).pw_uid
        except KeyError:
            number = 0
        return replace(self._packages.read(), user_id=number)

    def apply(self, steps: Sequence[Step[PackageState]]) -> None:
        """The user first: daemons and directories of the packages are given to it."""
        for number in (step.payload for step in steps if isinstance(step.payload, int)):
            self._run(["groupadd", "--system", "--gid", str(number), USER])
            own = ["--uid", str(number), "--gid", str(number), "--home-dir", NOWHERE, "--no-create-home"]
            self._run(["useradd", "--system", *own, "--shell", "/usr/sbin/nologin", USER])
        if rest := [step for step in steps if not isinstance(step.payload, int)]:
            self._packages.apply(rest)
