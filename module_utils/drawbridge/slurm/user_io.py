# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages, and the user slurm if they don't create it. Slurm needs the same user number on all hosts."""

from __future__ import annotations

import pwd
from collections.abc import Sequence
from dataclasses import replace

from ..core.command import Run
from ..core.converge import Device, Step
from ..core.packages.plan import PackageState

USER = "slurm"


class WithUser:
    """Packages that need the user slurm first."""

    def __init__(self, packages: Device[PackageState], run: Run) -> None:
        self.name, self._packages, self._run = packages.name, packages, run

    def read(self) -> PackageState:
        """Read the packages and the user's number."""
        try:
            number = pwd.getpwnam(USER).pw_uid
        except KeyError:
            number = 0
        return replace(self._packages.read(), user_id=number)

    def apply(self, steps: Sequence[Step[PackageState]]) -> None:
        """Create the user first: it owns daemons and directories of the packages."""
        for number in (step.payload for step in steps if isinstance(step.payload, int)):
            self._run(["groupadd", "--system", "--gid", str(number), USER])
            own = ["--uid", str(number), "--gid", str(number), "--home-dir", "/nonexistent", "--no-create-home"]
            self._run(["useradd", "--system", *own, "--shell", "/usr/sbin/nologin", USER])
        if rest := [step for step in steps if not isinstance(step.payload, int)]:
            self._packages.apply(rest)
