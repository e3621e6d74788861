# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS's packages on this host, what compiles its kernel modules, and the modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from ....core.converge import DeviceError, Step
from ....core.packages.plan import PackageState
from ....core.pinned_packages.plan import INSTALL, PinnedState
from ..io import Mm
from ..kernel.io import KernelModules
from .plan import ANY, FORGET, PACKAGES, TOOLS, SoftwareState
from .text import cluster_id, package_files


class Packages(Protocol):
    """Packages of this host in chosen versions."""

    def read(self) -> PinnedState:
        """Their versions."""
        raise NotImplementedError

    def apply(self, steps: Sequence[Step[PinnedState]]) -> None:
        """Install them."""


class Tools(Protocol):
    """Packages of this host in any version."""

    def read(self) -> PackageState:
        """Those that are installed."""
        raise NotImplementedError

    def apply(self, steps: Sequence[Step[Any]]) -> None:
        """Install them."""


class NoPackages:
    """For a site that installs GPFS itself."""

    def read(self) -> PinnedState:
        """None is wanted."""
        return PinnedState({}, frozenset())

    def apply(self, steps: Sequence[Step[PinnedState]]) -> None:
        """Nothing is planned."""


class Identity:
    """The cluster's configuration that this host has."""

    def __init__(self, mm: Mm, path: Path) -> None:
        self._mm, self._path = mm, path

    def read(self) -> str:
        """The cluster's id, empty for none."""
        return cluster_id(self._path.read_text(errors="replace")) if self._path.exists() else ""

    def forget(self) -> None:
        """Remove the configuration of a cluster that has deleted this host."""
        self._mm.change("mmdelnode", "-f")


class Software:
    """GPFS's software. `stop` ends GPFS here before its programs are replaced. Without `modules` the site builds them.

    `deleted_from` is the id of a cluster that does not list this host.
    """

    name = "GPFS software"

    def __init__(
        self,
        packages: Packages,
        tools: Tools,
        modules: KernelModules | None,
        want: SoftwareState,
        stop: Callable[[], None],
        identity: Identity,
        deleted_from: str = "",
    ) -> None:
        self._packages, self._tools, self._modules = packages, tools, modules
        self._want, self._stop = want, stop
        self._identity, self._deleted_from = identity, deleted_from
        self.cluster_id = ""
        """That of the configuration on this host, when it was last read."""

    def read(self) -> SoftwareState:
        """A package in any version counts as that version."""
        found = self._packages.read()
        versions = {
            name: ANY if have and self._want.packages.versions[name] == ANY else have
            for name, have in found.versions.items()
        }
        tools = self._tools.read().installed if self._want.tools else frozenset[str]()
        self.cluster_id = self._identity.read()
        leftover = bool(self.cluster_id) and self.cluster_id == self._deleted_from
        modules = self._modules.read() if self._modules else self._want.modules
        return SoftwareState(replace(found, versions=versions), modules, tools, leftover)

    def apply(self, steps: Sequence[Step[SoftwareState]]) -> None:
        """In order. An upgrade stops GPFS first."""
        for step in steps:
            kind, inner = step.payload
            if kind == PACKAGES:
                if step.disturbs and inner.payload[0] == INSTALL:
                    self._stop()
                self._packages.apply([_any(inner)])
            elif kind == TOOLS:
                self._install_tools(inner)
            elif kind == FORGET:
                self._identity.forget()
            elif self._modules:
                self._modules.apply([inner])

    def _install_tools(self, names: Sequence[str]) -> None:
        try:
            self._tools.apply([Step("", lambda state: state, list(names))])
        except DeviceError as err:
            state, named = self.read().modules, ", ".join(names)
            message = f"kernel {state.kernel}: what compiles GPFS {state.release}'s kernel modules ({named})"
            raise DeviceError(f"{message} can't be installed: {err}", **err.details) from err


def _any(step: Step[PinnedState]) -> Step[PinnedState]:
    """The step with packages in any version by their names alone."""
    verb, names = step.payload
    return replace(step, payload=(verb, tuple(name.removesuffix(f"={ANY}") for name in names)))


def from_directory(directory: str, manager: str) -> Callable[[Sequence[str]], Sequence[str]]:
    """Packages NAME=VERSION as paths of the vendor's files in a directory. The result raises DeviceError."""

    def found(names: Sequence[str]) -> Sequence[str]:
        try:
            listing = [path.name for path in Path(directory).iterdir()]
        except OSError as err:
            message = f"drawbridge_gpfs.software.directory is {directory}, but it can't be read: {err.strerror}"
            raise DeviceError(message) from err
        return package_files(names, listing, manager, directory)

    return found
