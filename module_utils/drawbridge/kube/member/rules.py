# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules for a node's packages, registries and images."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...core.faults import Fault
from ...core.rules import doubled
from ..model import Kube, Package

OLDEST = {"kubelet": (1, 33), "containerd": (2, 0), "containerd.io": (2, 0)}
"""Older releases ignore supplementalGroupsPolicy and run a job's pod with the groups of its image."""
MIRROR = "a mirror, such as https://mirror.example.org:5000"
PEM = "-----BEGIN CERTIFICATE-----"


def packages_are_new_enough(kube: Kube) -> Iterator[Fault]:
    """The gate's policies require a field that older releases ignore."""
    for index, package in enumerate(kube.packages):
        oldest, found = OLDEST.get(package.name), release(package)
        if oldest and found < oldest:
            least = ".".join(map(str, oldest))
            reason = f"before {least} it ignores supplementalGroupsPolicy, and jobs would get groups of their images"
            yield Fault(f"drawbridge_kube.packages[{index}].version", package.version, reason, f"pin {least} or later")


def release(package: Package) -> tuple[int, int]:
    """Major and minor number; the package manager's epoch is left out."""
    found = re.match(r"(?:[0-9]+:)?([0-9]+)(?:\.([0-9]+))?", package.version)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def registries_are_consistent(kube: Kube) -> Iterator[Fault]:
    """Every entry has an effect and does not contradict itself."""
    entries = kube.registries
    yield from doubled("drawbridge_kube.registries", [it.name for it in entries], "name every registry once")
    for index, registry in enumerate(entries):
        key = f"drawbridge_kube.registries[{index}]"
        yield from doubled(f"{key}.mirrors", list(registry.mirrors), "name every mirror once")
        if not registry.mirrors and not registry.fallback:
            reason = "without a mirror and without the registry itself, no image can be pulled"
            yield Fault(f"{key}.mirrors", [], reason, f"add {MIRROR}, or set fallback: true")
        if registry.name == "_default" and not registry.mirrors:
            yield Fault(f"{key}.name", registry.name, "this entry has no effect", f"add {MIRROR}")
        if registry.ca and PEM not in registry.ca:
            yield Fault(f"{key}.ca", registry.ca, "it is not a PEM certificate", f"paste the file that has {PEM}")
        for place, url in enumerate(registry.mirrors):
            if not url.startswith("https://"):
                reason = "without TLS, who is between a node and the mirror chooses the images that the node runs"
                repair = "give the mirror a certificate, write https://, and put its CA into ca"
                yield Fault(f"{key}.mirrors[{place}]", url, reason, repair)


def images_are_pinned(kube: Kube) -> Iterator[Fault]:
    """`latest` changes from pull to pull: nodes would differ, and the mirror's list would be useless."""
    for key, image in (("sandbox_image", kube.sandbox_image), ("rdma.image", kube.rdma.image)):
        if image.endswith(":latest"):
            reason = "this tag moves from one image to the next"
            yield Fault(f"drawbridge_kube.{key}", image, reason, "write the tag of a release, or @sha256: and a digest")


def sources_are_deb822(kube: Kube) -> Iterator[Fault]:
    """apt parses a file that ends in .sources as deb822, and fails on any other format."""
    text, key = kube.sources, "drawbridge_kube.sources"
    fields = {line.partition(":")[0].lower() for line in text.splitlines()}
    if text and (missing := sorted({"types", "uris", "suites"} - fields)):
        reason = f"apt finds no {missing[0].capitalize()} in it"
        yield Fault(key, text, reason, "write Types:, URIs: and Suites:, a line each")


RULES = (
    packages_are_new_enough,
    registries_are_consistent,
    images_are_pinned,
    sources_are_deb822,
)
