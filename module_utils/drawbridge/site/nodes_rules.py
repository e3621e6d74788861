# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between nodes, their leaves and the kubelets' policies."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist
from ..core.cpus import cpu_list
from ..core.faults import Fault
from ..fabric.model import Fabric
from ..kube.model import Kube
from ..nodes.model import NodeClass, Nodes
from ..nodes.numa import MOST_NUMA_NODES, Machine, never_admits


def ranges_point_somewhere(fabric: Fabric, nodes: Nodes) -> Iterator[Fault]:
    """A range's node class is defined, and its leaf is a leaf switch."""
    leaves = {name for kind in fabric.switches if kind.tier == "leaf" for name in hostlist.expand(kind.names)}
    for index, part in enumerate(nodes.ranges):
        key = f"drawbridge_nodes.ranges[{index}]"
        if part.node_class not in nodes.classes:
            known = ", ".join(sorted(nodes.classes)) or "none yet"
            yield Fault(f"{key}.node_class", part.node_class, "no class has that name", f"use one of: {known}")
        if leaves and (unknown := [name for name in part.leaf_names if name not in leaves]):
            known = hostlist.compress(sorted(leaves))
            reason = f"drawbridge_fabric.switches has no leaf {hostlist.compress(unknown)}"
            yield Fault(f"{key}.leaves", part.leaves, reason, f"use {known}")


def policies_admit_whole_nodes(nodes: Nodes, kube: Kube) -> Iterator[Fault]:
    """A gated job gets whole nodes, so each node class needs a policy that admits a pod with the whole node."""
    for name, build in nodes.classes.items():
        policy = build.topology_policy or kube.topology_policy
        where = f"drawbridge_nodes.classes.{name}" if build.topology_policy else "drawbridge_kube"
        if reason := never_admits(policy, Machine.of(build), len(cpu_list(build.reserved_cpus))):
            yield Fault(f"{where}.topology_policy", policy, reason, _repair(where, name, build))


def _repair(where: str, name: str, build: NodeClass) -> str:
    good = "none" if build.numa_nodes > MOST_NUMA_NODES else "best-effort"
    return f"set {good}" if "classes" in where else f"set {good}, or for {name} alone topology_policy: {good}"


RULES = (
    ranges_point_somewhere,
    policies_admit_whole_nodes,
)
