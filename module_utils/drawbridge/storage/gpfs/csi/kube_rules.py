# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between IBM's driver of Storage Scale and Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ....core import hostlist
from ....core.faults import MISSING, Fault
from ..model import Gpfs
from .objects import NAMESPACE


class Kubernetes(Protocol):
    """Nodes that are never gated, and namespaces whose pods may run on closed nodes."""

    @property
    def infra(self) -> str:
        """A hostlist."""
        raise NotImplementedError

    @property
    def infra_namespaces(self) -> Sequence[str]:
        """Namespaces."""
        raise NotImplementedError


KEY = "drawbridge_gpfs.csi"
FEWEST = 2
"""Nodes of sidecars: each has two pods, which keep apart."""


def driver_has_kubernetes(gpfs: Gpfs, kube: Kubernetes | None) -> Iterator[Fault]:
    """Claims are Kubernetes' own."""
    if gpfs.csi and kube is None:
        reason = "it is for claims of pods, and drawbridge_kube is not defined"
        yield Fault(f"{KEY}.release", gpfs.csi.release, reason, f"define drawbridge_kube, or take {KEY} out")


def driver_is_infrastructure(gpfs: Gpfs, kube: Kubernetes) -> Iterator[Fault]:
    """Its pods must run on closed nodes, and only pods of infrastructure namespaces may."""
    spaces = [*kube.infra_namespaces]
    if gpfs.csi and NAMESPACE not in spaces:
        reason = f"closed nodes would refuse pods of the driver, whose namespace is {NAMESPACE}"
        yield Fault("drawbridge_kube.infra_namespaces", spaces, reason, f"add {NAMESPACE}, or take {KEY} out")


def sidecars_have_nodes(gpfs: Gpfs, kube: Kubernetes) -> Iterator[Fault]:
    """Gated nodes are closed between jobs, so sidecars need nodes that are never gated."""
    infra = hostlist.expand(kube.infra)
    if gpfs.csi and len(infra) < FEWEST:
        reason = f"{len(infra)} infra node can't run the two sidecars of {KEY}, and gated nodes are closed between jobs"
        repair = "name two nodes that mount the file systems of its classes"
        yield Fault("drawbridge_kube.infra", kube.infra or MISSING, reason, repair)


RULES = (driver_has_kubernetes, driver_is_infrastructure, sidecars_have_nodes)
