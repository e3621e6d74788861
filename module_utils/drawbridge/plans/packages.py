# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages of the operating system: there or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..converge import Step


@dataclass(frozen=True)
class PackageState:
    """Names of packages that are installed."""

    installed: frozenset[str]

    def lines(self) -> list[str]:
        """One package a line."""
        return sorted(self.installed)


def plan(have: PackageState, want: PackageState) -> list[Step[PackageState]]:
    """One transaction for all that is missing; what else is installed is nobody's business here."""
    missing = want.installed - have.installed
    if not missing:
        return []

    def becomes(state: PackageState) -> PackageState:
        return replace(state, installed=state.installed | missing)

    return [Step(f"install {', '.join(sorted(missing))}", becomes, sorted(missing))]
