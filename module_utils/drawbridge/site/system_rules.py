# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between the operating system and the packages of Slurm, the kubelet and containerd."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.faults import MISSING, Fault
from ..kube.model import Kube
from ..nodes.model import Nodes
from ..nodes.systems import SYSTEMS
from ..slurm.model import Slurm
from ..slurm.sources import OLDEST, SOURCES, choices, described

KEY = "drawbridge_nodes.os"
BY_DRAWBRIDGE = ("packages", "sources", "registries", "sandbox_image")
"""Keys of drawbridge_kube that only a node that Drawbridge joins may have."""


def system_is_named(nodes: Nodes) -> Iterator[Fault]:
    """Packages, their releases and their manager follow from the system."""
    if not nodes.os:
        reason = "the releases of Slurm and the package manager follow from it"
        yield Fault(KEY, MISSING, reason, f"write one of {', '.join(SYSTEMS)}")


def slurm_is_to_be_had(nodes: Nodes, slurm: Slurm) -> Iterator[Fault]:
    """The distributor has packages of this release for this system."""
    if not nodes.os:
        return
    title, possible = SYSTEMS[nodes.os].title, " or ".join(choices(nodes.os))
    source = SOURCES.get((nodes.os, slurm.packages))
    if not source:
        reason = f"there are no such packages for {title} ({KEY} is {nodes.os})"
        yield Fault("drawbridge_slurm.packages", slurm.packages, reason, f"write {possible}")
    elif not source.usable:
        reason = f"{title} has {source.releases[-1]} in {described(source)}, and {OLDEST} is the oldest that works"
        yield Fault("drawbridge_slurm.packages", slurm.packages, reason, f"write {possible}")
    elif slurm.version not in source.releases:
        reason = f"{title} has {', '.join(source.usable)} in {described(source)}"
        others = [name for name in choices(nodes.os) if slurm.version in SOURCES[nodes.os, name].usable]
        instead = f", or packages: {' or '.join(others)}" if others else ""
        repair = f"set version: '{source.usable[-1]}'{instead}"
        yield Fault("drawbridge_slurm.version", slurm.version, reason, repair)


def members_come_by_apt(nodes: Nodes, kube: Kube) -> Iterator[Fault]:
    """Drawbridge installs containerd and the kubelet by apt."""
    system = SYSTEMS.get(nodes.os)
    if system and kube.join == "drawbridge" and system.manager != "apt":
        reason = f"{system.title} uses {system.manager} ({KEY} is {nodes.os}), and Drawbridge joins nodes by apt"
        given = [f"drawbridge_kube.{name}" for name in BY_DRAWBRIDGE if getattr(kube, name) != getattr(Kube, name)]
        leave = f", and leave {' and '.join(given)} out" if given else ""
        yield Fault("drawbridge_kube.join", kube.join, reason, f"set join: site{leave}")


def pinned_packages_are_of_the_system(nodes: Nodes, kube: Kube) -> Iterator[Fault]:
    """A version may name the system that it was built for. apt finds no other system's version."""
    system = SYSTEMS.get(nodes.os)
    for index, package in enumerate(kube.packages if system else ()):
        version = package.version.lower().replace("debian.", "deb").replace("debian", "deb")
        other = next((it for it in SYSTEMS.values() if it is not system and it.word in version), None)
        if system and other and system.word not in version:
            key = f"drawbridge_kube.packages[{index}].version"
            reason = f"it was built for {other.title}, and {KEY} is {nodes.os}"
            yield Fault(
                key, package.version, reason, f"pin a version for {system.title}: apt-cache madison {package.name}"
            )


RULES = (
    system_is_named,
    slurm_is_to_be_had,
    members_come_by_apt,
    pinned_packages_are_of_the_system,
)
