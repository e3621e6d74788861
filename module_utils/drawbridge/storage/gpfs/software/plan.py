# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of GPFS's software on a node: packages in one version, then kernel modules for the running kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ....core.consent import Consent
from ....core.converge import Step
from ....core.pinned_packages.plan import INSTALL, PinnedState
from ....core.pinned_packages.plan import plan as plan_packages
from ..kernel.plan import KernelState
from ..kernel.plan import plan as plan_modules

PACKAGES, TOOLS, MODULES, FORGET = "packages", "tools", "modules", "forget"
ANY = "any"
"""The version of a package that has its own numbers."""


@dataclass(frozen=True)
class SoftwareState:
    """Packages, compilers and headers, kernel modules."""

    packages: PinnedState
    modules: KernelState
    tools: frozenset[str] = frozenset()
    """Packages that compile the modules, those that are wanted and installed."""
    leftover: bool = False
    """The host has the configuration of a cluster that has deleted it."""

    def lines(self) -> list[str]:
        """In the words of the package manager."""
        tools = [f"{name} installed" for name in sorted(self.tools)]
        modules = self.modules.lines() if self.modules.kernel else []
        left = ["configuration of a cluster that has deleted this host"] if self.leftover else []
        return [*self.packages.lines(), *tools, *modules, *left]


def plan(have: SoftwareState, want: SoftwareState) -> list[Step[SoftwareState]]:
    """Install, then compile. A package that replaces another version needs a consent, and a node without jobs."""
    steps = list(_packages(have, want))
    state = have
    for step in steps:
        state = step.becomes(state)
    for step in (*_tools(state, want), *_modules(state, want)):
        # what waits for the packages waits with them
        steps.append(replace(step, disturbs=any(it.disturbs for it in steps)))
        state = step.becomes(state)
    if state.leftover:
        reason = "forget the configuration of the cluster, which has deleted this host"
        steps.append(Step(reason, lambda s: replace(s, leftover=False), (FORGET, None)))
    return steps


def _packages(have: SoftwareState, want: SoftwareState) -> Iterator[Step[SoftwareState]]:
    other = [name for name, version in want.packages.versions.items() if have.packages.versions.get(name) != version]
    replaced = {name: old for name in other if (old := have.packages.versions.get(name))}
    for step in plan_packages(have.packages, want.packages):
        verb, _unused = step.payload
        consent = (_upgrade(replaced, want) if replaced else _license(other)) if verb == INSTALL and other else None
        yield Step(step.reason, _on_packages(step.becomes), (PACKAGES, step), disturbs=step.disturbs, consent=consent)


def _tools(have: SoftwareState, want: SoftwareState) -> Iterator[Step[SoftwareState]]:
    headers = {name for name in want.tools if name.endswith(have.modules.kernel)}
    needed = want.tools if not have.modules.built else want.tools - headers
    if lacking := sorted(needed - have.tools):
        reason = f"install {', '.join(lacking)}, which compile kernel modules"
        yield Step(
            reason,
            lambda s: replace(s, tools=s.tools | set(lacking), modules=replace(s.modules, headers=True)),
            (TOOLS, lacking),
        )


def _modules(have: SoftwareState, want: SoftwareState) -> Iterator[Step[SoftwareState]]:
    for step in plan_modules(have.modules, want.modules):
        yield Step(step.reason, _on_modules(step.becomes), (MODULES, step), refused=step.refused)


def _upgrade(replaced: dict[str, str], want: SoftwareState) -> Consent:
    named = ", ".join(f"{name} {old} by {want.packages.versions[name]}" for name, old in replaced.items())
    return Consent(
        "may_upgrade", f"may_upgrade is false, but this would stop GPFS and replace {named}; to allow it, set"
    )


def _license(missing: list[str]) -> Consent:
    return Consent(
        "accept_license",
        f"accept_license is false, but IBM Storage Scale ({', '.join(missing)}) would be installed; read its licence"
        " agreement and, if you accept it, set",
    )


def _on_packages(becomes: Callable[[PinnedState], PinnedState]) -> Callable[[SoftwareState], Any]:
    """New packages make older modules useless."""

    def applied(state: SoftwareState) -> SoftwareState:
        after = becomes(state.packages)
        fresh = after.versions == state.packages.versions
        modules = state.modules if fresh else replace(state.modules, built=state.modules.prebuilt)
        return replace(state, packages=after, modules=modules)

    return applied


def _on_modules(becomes: Callable[[KernelState], KernelState]) -> Callable[[SoftwareState], Any]:
    return lambda state: replace(state, modules=becomes(state.modules))
