# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages of the RHEL family. The distribution's presets keep their services off."""

from __future__ import annotations

from collections.abc import Sequence

from ..command import Run
from ..converge import Step
from .plan import PackageState

DNF = ("dnf", "--assumeyes", "--quiet", "--setopt=install_weak_deps=False")
"""dnf itself waits for a dnf that is running."""


class Packages:
    """Packages of this host."""

    name = "packages"

    def __init__(self, run: Run, wanted: Sequence[str]) -> None:
        self._run, self._wanted = run, wanted

    def read(self) -> PackageState:
        """Query rpm, whose exit code is the number of missing packages."""
        if not self._wanted:
            return PackageState(frozenset())
        codes = tuple(range(len(self._wanted) + 1))
        out = self._run(["rpm", "--query", "--queryformat", "%{NAME}\\n", *self._wanted], ok=codes).out
        return PackageState(frozenset(out.splitlines()) & frozenset(self._wanted))

    def apply(self, steps: Sequence[Step[PackageState]]) -> None:
        """Install missing packages without recommended ones."""
        names = [name for step in steps for name in step.payload]
        self._run([*DNF, "install", *names])
