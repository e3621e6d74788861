# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules for names and topologies that Slurm misreads or silently ignores."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.faults import Fault
from ...nodes.model import Nodes
from ..model import Slurm
from ..releases import RELEASES
from .node_groups import socket_key

ROOT = "fabric"
"""The switch above all leaves in a tree."""
KEYWORD = "that name is a keyword of Slurm"


def names_are_no_keywords(nodes: Nodes, slurm: Slurm) -> Iterator[Fault]:
    """Slurm reads `default`, in any case, as a keyword: the line sets defaults of all later lines."""
    for index, partition in enumerate(slurm.partitions):
        if partition.name.lower() == "default":
            key = f"drawbridge_slurm.partitions[{index}].name"
            reason = "Slurm reads that line as defaults of all later partitions"
            yield Fault(key, partition.name, reason, "give the partition another name")
    for name in nodes.by_name:
        if name.lower() in ("default", "all"):
            yield Fault("drawbridge_nodes.ranges", name, KEYWORD, "give the node another name")
    for name, group in nodes.classes.items():
        key = f"drawbridge_nodes.classes.{name}"
        if name in nodes.by_name:
            reason = "Slurm's NodeSet of the class would have the name of a node"
            yield Fault(key, name, reason, "give the class or the node another name")
        if name in ("default", "all"):
            yield Fault(key, name, KEYWORD, "give the class another name")
        if group.gpus.type.isdigit():
            gpus = group.gpus.type
            reason = f"--gres=gpu:{gpus} requests {gpus} GPUs of any type"
            yield Fault(f"{key}.gpus.type", gpus, reason, "add a letter, such as h100")


def l3_caches_are_known(nodes: Nodes, slurm: Slurm) -> Iterator[Fault]:
    """With l3cache_as_socket slurmd counts L3 caches, and the node's line must have the same number."""
    for name, build in nodes.classes.items():
        key = socket_key(name, slurm)
        if key == "l3_caches" and (not build.l3_caches or build.cores % build.l3_caches):
            reason = f"with l3cache_as_socket slurmd counts L3 caches as sockets, equal parts of {build.cores} cores"
            repair = "take the number of L3 instances that lscpu prints"
            yield Fault(f"drawbridge_nodes.classes.{name}.{key}", build.l3_caches, reason, repair)


def instances_are_near_whole_sockets(nodes: Nodes, slurm: Slurm) -> Iterator[Fault]:
    """slurmd detects the cores near each instance, those of its NUMA node, and slurmctld accepts only whole sockets."""
    for name, build in nodes.classes.items():
        sockets = getattr(build, socket_key(name, slurm))
        if build.gpus.divided and sockets != build.numa_nodes:
            reason = (
                f"Slurm counts {sockets} sockets and detects GPUs by {build.numa_nodes} NUMA nodes, so it drains nodes"
            )
            repair = "add numa_node_as_socket to drawbridge_slurm.settings.SlurmdParameters, or remove mig"
            yield Fault(f"drawbridge_nodes.classes.{name}.gpus.mig", dict(build.gpus.mig.layout), reason, repair)


def leaves_make_one_tree(nodes: Nodes, slurm: Slurm) -> Iterator[Fault]:
    """Two switches of one name end slurmctld, and blocks must have one size."""
    sizes = {unit: len(names) for unit, names in nodes.units.items()}
    if slurm.topology == "tree" and ROOT in sizes:
        reason = "the switch above all units has that name in Slurm's tree"
        yield Fault("drawbridge_nodes.ranges", ROOT, reason, "give the leaf another name")
    if slurm.topology != "block":
        return
    if not RELEASES[slurm.version].block_sizes:
        reason = f"Slurm {slurm.version} knows blocks but not their sizes"
        yield Fault("drawbridge_slurm.topology", "block", reason, "write tree, or install 24.05 or later")
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{unit} {size}" for unit, size in sorted(sizes.items()))
        reason = f"the blocks would differ in size ({shown}), and nodes beyond the smallest would stay unused"
        yield Fault("drawbridge_slurm.topology", "block", reason, "make the units alike, or write tree")


RULES = (
    names_are_no_keywords,
    l3_caches_are_known,
    instances_are_near_whole_sockets,
    leaves_make_one_tree,
)
