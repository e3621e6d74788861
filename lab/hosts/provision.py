# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files on a host's disk before its first boot, and who writes them.

A provider is a module with `provision(context)`: a function of files only. It writes configuration, unit files and
links to units below `context.disk` (the overlay's upper layer, where `/etc/x` is `context.disk / "etc/x"`), and appends
bind mounts to `context.binds`. It starts nothing and needs no network. It runs once per installation, in parallel with
other hosts' calls. A lab-wide thing (a certificate authority) is made in `prepare(site, paths)`, which is called once
per `lab up`, before any host, and must be idempotent.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from lab.hosts.paths import Paths
from lab.hosts.site import Host, Site

PROVIDERS = (
    "lab.hosts.disk",
    "lab.machine.provision",
    "lab.kubernetes.provision",
    "lab.emulators.provision",
    "lab.vm.provision",
)


@dataclass(frozen=True)
class Bind:
    """A bind mount into the guest; made anew at each boot."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True)
class Context:
    """All that a provider may know about the host that it writes for."""

    site: Site
    host: Host
    paths: Paths
    disk: Path
    """The overlay's upper layer: write here."""
    image: Path
    """The tree below it: read here, never write."""
    controllers: frozenset[str]
    """cgroup2 controllers that guests can have; empty on a machine with cgroup v1-hybrid."""
    binds: list[Bind] = field(default_factory=list)
    """Append what the guest shall see of the machine."""

    def write(self, target: str, text: str | bytes, mode: int = 0o644) -> Path:
        """Write the guest's file `target` (an absolute path in the guest), making its directories."""
        path = self.disk / target.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        path.chmod(mode)
        return path

    def link(self, target: str, points_to: str) -> None:
        """Make the guest's symbolic link `target`, replacing an older one."""
        path = self.disk / target.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(points_to)

    def enable(self, unit: str, wanted_by: str = "multi-user.target") -> None:
        """Make the guest's systemd start `unit` (a file in /etc/systemd/system) at every boot."""
        self.link(f"/etc/systemd/system/{wanted_by}.wants/{unit}", f"/etc/systemd/system/{unit}")


def providers() -> Iterator[ModuleType]:
    """The provider modules, in the order in which they write."""
    for name in PROVIDERS:
        yield importlib.import_module(name)


def prepare(site: Site, paths: Paths) -> None:
    """Let every provider make what the whole lab shares."""
    for module in providers():
        if hasattr(module, "prepare"):
            module.prepare(site, paths)


def install(context: Context) -> None:
    """Let every provider write to one host's disk."""
    for module in providers():
        module.provision(context)
