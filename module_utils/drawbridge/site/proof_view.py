# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The proof joins nodes, fabric and Slurm: what its program needs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from ..core import hostlist
from ..core import ports as port_lists
from ..fabric.model import DCQCN, Fabric
from ..nic.view import ECT0
from ..nodes.model import NodeClass, Nodes
from ..proof.model import ClassProof, Proof
from ..proof.node import ProofDirectory, ProofNode, ProofRail, ProofTraining
from ..slurm.model import Slurm
from .proof_partition import PARTITION


def node_proof(nodes: Nodes, slurm: Slurm, proof: Proof, fabric: Fabric | None = None) -> dict[str, Any]:
    """The configuration of the proof's program on Slurm's controller.

    C(classes) has a node of each class as its checks see it. C(ranges) has names, class, unit and leaves of rails.
    C(uplinks) is Gb/s of each leaf's cables to spines. C(passports) are the classes that ask for one.
    """
    classes = {name: proof_node(name, build, proof, fabric).as_dict() for name, build in nodes.classes.items()}
    return {
        "cluster": slurm.cluster,
        "partition": PARTITION,
        "classes": classes,
        "ranges": [
            {
                "names": part.names,
                "addresses": part.addresses,
                "node_class": part.node_class,
                "unit": part.unit,
                "leaves": part.port_leaves(nodes.class_at(part).nics_for("rails")),
            }
            for part in nodes.ranges
        ],
        "uplinks": {**_uplinks(nodes, fabric), **_given_uplinks(proof)},
        "passports": sorted(name for name, it in proof.classes.items() if it.passport),
        "most_days": proof.most_days,
        "group": proof.group,
        "incast": proof.incast,
        "percent_per_hour": proof.patrol.percent_per_hour,
    }


def proof_node(name: str, build: NodeClass, proof: Proof, fabric: Fabric | None) -> ProofNode:
    """A node of this class, without its own name."""
    own = proof.classes.get(name, ClassProof())
    nics = build.nics_for("rails")
    rails = zip(nics.netdevs, nics.rdma_devices, nics.numa) if nics else ()
    training = own.training
    return ProofNode(
        name="",
        node_class=name,
        rails=tuple(ProofRail(netdev, rdma, nics.gbps if nics else 0, numa) for netdev, rdma, numa in rails),
        mtu_bytes=fabric.host_mtu_bytes if fabric else 0,
        tclass=fabric.roce.dscp << 2 | ECT0 if fabric else 0,
        priority=fabric.roce.priority if fabric else -1,
        dcqcn=fabric is not None and fabric.congestion_control == DCQCN,
        gid_index=build.nccl_gid_index,
        gpus=build.gpus.count,
        gpu_vendor=build.gpus.vendor if build.gpus.count else "",
        gpu_product=build.gpus.product,
        instances=build.gpus.devices if build.gpus.divided else 0,
        sockets=build.sockets,
        cores=build.cores,
        memory_mib=build.memory_mib,
        socket_memory_gb_s=own.socket_memory_gb_s,
        tools={key: value for key, value in asdict(proof.tools).items() if value},
        directories=tuple(ProofDirectory(**asdict(it)) for it in proof.directories),
        training=ProofTraining(**{**asdict(training), "limit": float(training.limit)}) if training else ProofTraining(),
        limits={it.measure: it.value for it in proof.limits},
        seconds=proof.seconds,
    )


def _uplinks(nodes: Nodes, fabric: Fabric | None) -> dict[str, int]:
    """Gb/s of each leaf's cables to spines, as fast as its nodes' rails; empty without cabling."""
    if not fabric or not fabric.cabling:
        return {}
    rates: dict[str, int] = {}
    for part in nodes.ranges:
        nics = nodes.class_at(part).nics_for("rails")
        for leaf in part.leaf_names if nics else ():
            rates[leaf] = max(rates.get(leaf, 0), nics.gbps if nics else 0)
    cables: Counter[str] = Counter()
    for link in fabric.cabling.links:
        for leaf in hostlist.expand(link.lower):
            cables[leaf] += len(port_lists.expand(link.lower_ports))
    return {leaf: cables[leaf] * rate for leaf, rate in sorted(rates.items()) if cables[leaf] and rate}


def _given_uplinks(proof: Proof) -> dict[str, int]:
    return {leaf: it.gbps for it in proof.uplinks for leaf in hostlist.expand(it.leaves)}
