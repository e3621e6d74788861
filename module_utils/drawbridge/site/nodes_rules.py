# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between nodes, their leaves and the kubelets' policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..core import hostlist
from ..core.cpus import cpu_list
from ..core.faults import Fault
from ..fabric.model import Fabric
from ..kube.gpu_resources import gpu_places
from ..kube.model import Kube
from ..nodes.model import Nodes
from ..nodes.nics import BLUEFIELDS, NIC_MODE
from ..nodes.numa import Machine, never_admits
from ..slurm.model import Slurm


def leaves_are_leaf_switches(fabric: Fabric, nodes: Nodes) -> Iterator[Fault]:
    """A range's leaves are leaf switches of the fabric."""
    leaves = {name for kind in fabric.switches if kind.tier == "leaf" for name in hostlist.expand(kind.names)}
    for index, part in enumerate(nodes.ranges if leaves else ()):
        if unknown := [name for name in part.leaf_names if name not in leaves]:
            known = hostlist.compress(sorted(leaves))
            reason = f"drawbridge_fabric.switches has no leaf {hostlist.compress(unknown)}"
            yield Fault(f"drawbridge_nodes.ranges[{index}].leaves", part.leaves, reason, f"use {known}")


def rails_have_leaves(nodes: Nodes, slurm: Slurm, fabric: Fabric | None) -> Iterator[Fault]:
    """Whoever configures switches, or Slurm's topology, needs to know which leaves a node is on."""
    if fabric is None and slurm.topology == "none":
        return
    for index, part in enumerate(nodes.ranges):
        build = nodes.classes.get(part.node_class)
        if build and build.rails and not part.leaf_names:
            reason = f"class {part.node_class} has {len(build.rails)} rails, which are cabled to leaf switches"
            repair = "list the leaf of each rail, or one leaf for all"
            yield Fault(f"drawbridge_nodes.ranges[{index}].leaves", part.leaves, reason, repair)


def policies_admit_whole_nodes(nodes: Nodes, kube: Kube) -> Iterator[Fault]:
    """A gated job gets whole nodes, so each node class needs a policy that admits a pod with the whole node."""
    for name, build in nodes.classes.items():
        policy = build.topology_policy or kube.topology_policy
        where = f"drawbridge_nodes.classes.{name}" if build.topology_policy else "drawbridge_kube"
        machine, reserved = Machine.of(build), len(cpu_list(build.reserved_cpus))
        # the policy looks at each resource of a pod on its own
        places = gpu_places(build.gpus, kube.gpu_operator.mig_strategy).values()
        each = [machine, *(replace(machine, gpus=numa) for numa in places)]
        reasons = (never_admits(policy, it, reserved, machine.most_numa_nodes) for it in each)
        if reason := next(filter(None, reasons), ""):
            yield Fault(f"{where}.topology_policy", policy, reason, _repair(where, name, machine))


def _repair(where: str, name: str, machine: Machine) -> str:
    good = "none" if len(machine.numa_numbers) > machine.most_numa_nodes else "best-effort"
    return f"set {good}" if "classes" in where else f"set {good}, or for {name} alone topology_policy: {good}"


def ports_are_ethernet(fabric: Fabric, nodes: Nodes) -> Iterator[Fault]:
    """RoCE needs Ethernet; firmware of some NICs can make a port InfiniBand."""
    del fabric
    for name, build in nodes.classes.items():
        for index, nics in enumerate(build.nics):
            for parameter in nics.firmware:
                key, _sep, value = parameter.partition("=")
                if key.startswith("LINK_TYPE_P") and value == INFINIBAND:
                    reason = "it makes the port InfiniBand, and drawbridge_fabric is RoCE over Ethernet"
                    where = f"drawbridge_nodes.classes.{name}.nics[{index}].firmware"
                    yield Fault(where, parameter, reason, f"write {key}=2, which is Ethernet, or remove it")


def ports_are_the_hosts(fabric: Fabric, nodes: Nodes) -> Iterator[Fault]:
    """In DPU mode, classes and MTU of a BlueField's ports are not the host's to set."""
    del fabric
    for name, build in nodes.classes.items():
        for index, nics in enumerate(build.nics):
            if nics.device in BLUEFIELDS and NIC_MODE not in nics.firmware:
                where = f"drawbridge_nodes.classes.{name}.nics[{index}].device"
                reason = "in DPU mode, its default, the Arm cores of a BlueField own classes and MTU, not the host"
                yield Fault(where, nics.device, reason, f"add {NIC_MODE} to firmware, which is NIC mode")


INFINIBAND = "1"
"""Value of LINK_TYPE_P1; 2 is Ethernet, and 3 lets the port find out."""
RULES = (
    ports_are_ethernet,
    ports_are_the_hosts,
    leaves_are_leaf_switches,
    rails_have_leaves,
    policies_admit_whole_nodes,
)
