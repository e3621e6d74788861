# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of a node's packages and registries: pinned, new enough, and reachable as written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...core.faults import MISSING, Fault
from ...core.rules import doubled
from ...site.model import Intent, Package
from ...slurm.packaging import PACKAGINGS

KUBELET, CONTAINERD = ("kubelet",), ("containerd", "containerd.io")
"""Packages that bring them, whoever packs them."""
OLDEST = {"kubelet": (1, 33), "containerd": (2, 0), "containerd.io": (2, 0)}
"""Older ones run a job's pod with the groups of its image: they do not know supplementalGroupsPolicy."""
PEM = "-----BEGIN CERTIFICATE-----"


def packages_are_there(intent: Intent) -> Iterator[Fault]:
    """Whoever joins nodes brings a kubelet and a container runtime."""
    key, packages = "drawbridge_kube.packages", intent.kube.packages
    if intent.kube.join != "drawbridge":
        if packages:
            reason = "drawbridge_kube.join is site, so nobody installs them"
            yield Fault(key, [package.name for package in packages], reason, "leave them out, or set join: drawbridge")
        return
    if PACKAGINGS[intent.slurm.packages].manager != "apt":
        reason = f"nodes with drawbridge_slurm.packages: {intent.slurm.packages} install with dnf, and only apt's are"
        yield Fault("drawbridge_kube.join", intent.kube.join, f"{reason} installed here", "set join: site")
    names = [package.name for package in packages]
    for wanted in (KUBELET, CONTAINERD):
        if not set(wanted) & set(names):
            reason = f"nodes are made members here (join: drawbridge), and that takes {wanted[0]}"
            repair = f"add {{name: {wanted[0]}, version: ...}}, or set drawbridge_kube.join: site"
            yield Fault(key, names or MISSING, reason, repair)
    yield from doubled(key, names, "pin every package once")


def packages_are_new_enough(intent: Intent) -> Iterator[Fault]:
    """The gate's policies name a field that older ones ignore."""
    for index, package in enumerate(intent.kube.packages):
        oldest, found = OLDEST.get(package.name), release(package)
        if oldest and found < oldest:
            least = ".".join(map(str, oldest))
            reason = f"before {least} it ignores supplementalGroupsPolicy, and jobs would get groups of their images"
            yield Fault(f"drawbridge_kube.packages[{index}].version", package.version, reason, f"pin {least} or later")


def release(package: Package) -> tuple[int, int]:
    """Major and minor number, without the package manager's epoch."""
    found = re.match(r"(?:[0-9]+:)?([0-9]+)(?:\.([0-9]+))?", package.version)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def registries_can_be_asked(intent: Intent) -> Iterator[Fault]:
    """Every entry says something, and nothing that contradicts itself."""
    entries = intent.kube.registries
    yield from doubled("drawbridge_kube.registries", [it.name for it in entries], "name every registry once")
    for index, registry in enumerate(entries):
        key = f"drawbridge_kube.registries[{index}]"
        yield from doubled(f"{key}.mirrors", list(registry.mirrors), "name every mirror once")
        if not registry.mirrors and not registry.fallback:
            reason = "without a mirror, and without the registry itself, its images come from nowhere"
            yield Fault(f"{key}.mirrors", [], reason, "add a mirror, or set fallback: true")
        if registry.name == "_default" and not registry.mirrors:
            yield Fault(f"{key}.name", registry.name, "nothing is said about all registries", "add a mirror")
        if registry.ca and PEM not in registry.ca:
            yield Fault(f"{key}.ca", registry.ca, "it is no certificate in PEM", f"paste the file that has {PEM}")
        if registry.ca and registry.mirrors and all(url.startswith("http://") for url in registry.mirrors):
            reason = "its mirrors are asked without TLS, so nobody looks at it"
            yield Fault(f"{key}.ca", "...", reason, "write the mirrors as https://, or leave it out")


def images_are_pinned(intent: Intent) -> Iterator[Fault]:
    """What `latest` is changes from pull to pull: nodes would differ, and the mirror's list would say nothing."""
    kube = intent.kube
    for key, image in (("sandbox_image", kube.sandbox_image), ("rdma.image", kube.rdma.image)):
        if image.endswith(":latest"):
            reason = "that is another image from one day to the next"
            yield Fault(f"drawbridge_kube.{key}", image, reason, "write the tag of a release, or @sha256: and a digest")


def sources_are_deb822(intent: Intent) -> Iterator[Fault]:
    """apt reads a file that ends in .sources as stanzas, and ends with an error at anything else."""
    text, key = intent.kube.sources, "drawbridge_kube.sources"
    fields = {line.partition(":")[0].lower() for line in text.splitlines()}
    if text and (missing := sorted({"types", "uris", "suites"} - fields)):
        reason = f"apt finds no {missing[0].capitalize()} in it"
        yield Fault(key, text, reason, "write Types:, URIs: and Suites:, a line each")


RULES = (
    packages_are_there,
    packages_are_new_enough,
    registries_can_be_asked,
    images_are_pinned,
    sources_are_deb822,
)
