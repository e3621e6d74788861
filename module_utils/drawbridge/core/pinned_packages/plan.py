# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of packages of one version each, from the site's own sources and held back from upgrades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..converge import Step

SOURCES, FINISH, INSTALL, HOLD = "sources", "finish", "install", "hold"


@dataclass(frozen=True)
class PinnedState:
    """Packages by name with their version, "" if not installed."""

    versions: Mapping[str, str]
    held: frozenset[str]
    """Packages that apt does not upgrade."""
    sources: str = ""
    """Text of Drawbridge's file of apt sources."""
    cut_off: bool = False
    """An installation was killed, and services of all packages are kept off since."""
    installed: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Day, user and command of the installation of another version, by package, if the host knows."""

    def lines(self) -> list[str]:
        """One package a line, then the sources."""
        shown = [
            f"{name} {version or 'missing'}{' held' if name in self.held else ''}"
            for name, version in sorted(self.versions.items())
        ]
        late = ["services of packages are kept off"] if self.cut_off else []
        return [*shown, *late, *(f"    {line}" for line in self.sources.splitlines())]


def as_they_are(names: Sequence[str]) -> Sequence[str]:
    """Packages as NAME=VERSION."""
    return names


def plan(have: PinnedState, want: PinnedState) -> list[Step[PinnedState]]:
    """Write the sources, install all packages in one transaction, then hold them.

    A package that replaces another version disturbs the node, because its daemon must restart.
    """
    steps: list[Step[PinnedState]] = []
    if have.sources != want.sources:
        reason = "write the packages' sources" if want.sources else "remove the packages' sources"
        steps.append(Step(reason, lambda s: replace(s, sources=want.sources), (SOURCES, ())))
    if have.cut_off:
        reason = "finish an installation that was cut off, and let packages start their services again"
        steps.append(Step(reason, lambda s: replace(s, cut_off=False), (FINISH, ())))
    other = {name: version for name, version in want.versions.items() if have.versions.get(name) != version}
    replaces = any(have.versions.get(name) for name in other)
    if other:
        shown = ", ".join(_change(name, have, version) for name, version in other.items())
        names = tuple(f"{name}={version}" for name, version in other.items())
        step = Step(
            f"install {shown}", lambda s: replace(s, versions=want.versions), (INSTALL, names), disturbs=replaces
        )
        steps.append(replace(step, about=f"install {' '.join(names)}"))
    if loose := want.held - have.held:
        names = tuple(sorted(loose))
        steps.append(
            Step(f"hold {', '.join(names)}", lambda s: replace(s, held=want.held), (HOLD, names), disturbs=replaces)
        )
    return steps


def _change(name: str, have: PinnedState, new: str) -> str:
    if not (old := have.versions.get(name)):
        return f"{name} {new}"
    said = have.installed.get(name)
    return f"{name} {new} instead of {old}{f' ({said})' if said else ''}"
