# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of GPFS's settings of node classes."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.faults import Fault
from ....nodes.model import Nodes
from ..model import Gpfs
from .view import FILE_BYTES, TYPED, memory_mib

KEY = "drawbridge_gpfs.tuning"
SMALLEST_POOL_MIB = 4


def tuned_classes_exist(gpfs: Gpfs, nodes: Nodes) -> Iterator[Fault]:
    """Settings are for node classes of the intent."""
    for name in gpfs.tuning:
        if name not in nodes.classes:
            known = ", ".join(nodes.classes)
            yield Fault(f"{KEY}.{name}", name, "drawbridge_nodes.classes has no such class", f"use one of {known}")


def verbs_have_nics(gpfs: Gpfs, nodes: Nodes) -> Iterator[Fault]:
    """RDMA needs NICs with that purpose."""
    for name, tuning in gpfs.tuning.items():
        build = nodes.classes.get(name)
        if build and tuning.verbs and not build.nics_for(tuning.verbs):
            reason = f"class {name} has no NICs with purpose {tuning.verbs}"
            repair = f"list them in drawbridge_nodes.classes.{name}.nics, or leave out verbs for TCP"
            yield Fault(f"{KEY}.{name}.verbs", tuning.verbs, reason, repair)


def memory_is_reserved(gpfs: Gpfs, nodes: Nodes) -> Iterator[Fault]:
    """GPFS's memory is pinned and belongs to no job, so Slurm and the kubelet must leave it."""
    for name, tuning in gpfs.tuning.items():
        build, key = nodes.classes.get(name), f"{KEY}.{name}.pagepool_mib"
        if 0 < tuning.pagepool_mib < SMALLEST_POOL_MIB:
            yield Fault(key, tuning.pagepool_mib, "GPFS needs at least 4 MiB", "write 4 or more, or leave it out")
        if not build or not (needed := memory_mib(tuning)):
            continue
        left = build.reserved_memory_mib - build.hugepages_mib
        if needed >= left:
            reason = (
                f"with the caches of files ({FILE_BYTES >> 10} KiB each at most) GPFS takes {needed} MiB, and"
                f" drawbridge_nodes.classes.{name} reserves {left} MiB besides huge pages"
            )
            repair = f"make it smaller, or set reserved_memory_mib above {needed + build.hugepages_mib}"
            yield Fault(key, tuning.pagepool_mib, reason, repair)


def settings_are_not_keys(gpfs: Gpfs) -> Iterator[Fault]:
    """An attribute that has a key is set by it, in its unit."""
    for name, tuning in gpfs.tuning.items():
        for attribute, value in tuning.settings.items():
            if own := {key.lower(): own for key, own in TYPED.items()}.get(attribute.lower()):
                reason = f"the key {own} sets {attribute}"
                yield Fault(f"{KEY}.{name}.settings.{attribute}", value, reason, f"set {KEY}.{name}.{own} instead")


RULES = (tuned_classes_exist, verbs_have_nics, memory_is_reserved, settings_are_not_keys)
