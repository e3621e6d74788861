# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent for pods of gated jobs: which nodes they may have, and all that one of them takes there."""

from __future__ import annotations

from ..core import hostlist
from ..core.cpus import cpu_list
from ..kube.gpu_resources import gpu_resources
from ..kube.model import Kube
from ..nodes.gpus.vendors import DEFAULT, VENDORS
from ..nodes.model import NodeClass, Nodes
from ..slurm.model import Slurm


def gated_nodes(slurm: Slurm) -> list[str]:
    """Nodes of all partitions with gate: true, in the order of their first appearance."""
    return list(dict.fromkeys(name for part in slurm.partitions if part.gate for name in hostlist.expand(part.nodes)))


def gated_classes(nodes: Nodes, slurm: Slurm) -> dict[str, NodeClass]:
    """Classes with nodes of gated partitions."""
    found = {part.node_class for name in gated_nodes(slurm) if (part := nodes.by_name.get(name))}
    return {name: build for name, build in nodes.classes.items() if name in found}


def has_unlike_nodes(nodes: Nodes, slurm: Slurm, kube: Kube) -> bool:
    """Whether a job of a gated partition may have nodes that offer other GPUs, because those of some are divided."""
    if not any(build.gpus.divided for build in nodes.classes.values()):
        return False
    gated = gated_classes(nodes, slurm).values()
    offered = {frozenset(gpu_resources(it.gpus, kube.gpu_operator.mig_strategy).items()) for it in gated}
    return len(offered) > 1 and any(build.gpus.divided for build in gated)


def pod_limits(nodes: Nodes, kube: Kube, host: str) -> dict[str, str]:
    """Resources of a pod that takes a whole node: all that is not reserved.

    C(gpus) counts GPUs and instances. C(resources) has names and counts, unless all are the default vendor's GPUs.
    """
    build = nodes.class_of(host)
    offered = gpu_resources(build.gpus, kube.gpu_operator.mig_strategy)
    own = offered.keys() - {VENDORS[DEFAULT].resource}
    return {
        "cpus": str(build.cpus - len(cpu_list(build.reserved_cpus))),
        "memory": f"{build.memory_mib - build.reserved_memory_mib}Mi",
        "gpus": str(build.gpus.devices),
        **({"resources": ",".join(f"{name}={count}" for name, count in offered.items())} if own else {}),
    }
