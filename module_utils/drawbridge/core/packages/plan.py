# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of packages of the operating system, in any version."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..converge import Step


@dataclass(frozen=True)
class PackageState:
    """Names of packages that are installed."""

    installed: frozenset[str]
    cut_off: bool = False
    """An installation was killed, and services of all packages are kept off since."""
    user_id: int = 0
    """Number of the user slurm, for packages that don't create it; 0: no such user, or not read."""

    def lines(self) -> list[str]:
        """One package a line."""
        user = [f"user slurm {self.user_id}"] if self.user_id else []
        return [*user, *sorted(self.installed), *(["services of packages are kept off"] if self.cut_off else [])]


def plan(have: PackageState, want: PackageState) -> list[Step[PackageState]]:
    """Install all missing packages in one transaction.

    A user slurm with another number already owns files, so an administrator must change it.
    """
    steps: list[Step[PackageState]] = []
    missing = want.installed - have.installed
    if want.user_id != have.user_id:
        other = f"user slurm is {have.user_id}; give it and its files that number" if have.user_id else ""
        reason = f"make the user slurm with the number {want.user_id}"
        steps.append(Step(reason, lambda state: replace(state, user_id=want.user_id), want.user_id, other))
    if have.cut_off:
        reason = "finish an installation that was cut off, and let packages start their services again"
        steps.append(Step(reason, lambda state: replace(state, cut_off=False), []))
    if missing:
        reason = f"install {', '.join(sorted(missing))}"
        steps.append(Step(reason, lambda s: replace(s, installed=s.installed | missing), sorted(missing)))
    return steps
