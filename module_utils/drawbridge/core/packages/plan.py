# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages of the operating system: there or not, and no installation of ours half done."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..converge import Step


@dataclass(frozen=True)
class PackageState:
    """Names of packages that are installed."""

    installed: frozenset[str]
    cut_off: bool = False
    """An installation of ours did not get to its end; services of all packages are held back since."""
    user_id: int = 0
    """Number of the user slurm, where packages don't bring it; 0: there is none, or nobody asked."""

    def lines(self) -> list[str]:
        """One package a line."""
        user = [f"user slurm {self.user_id}"] if self.user_id else []
        return [*user, *sorted(self.installed), *(["services of packages are held back"] if self.cut_off else [])]


def plan(have: PackageState, want: PackageState) -> list[Step[PackageState]]:
    """One transaction for all that is missing; what else is installed is nobody's business here.

    A user slurm with another number owns files already, so it is left to a person.
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
