# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's nodes and the proof meet here: a node of some classes takes jobs only with a valid passport."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..fabric.model import Fabric
from ..nodes.model import Nodes
from ..nodes.passport_io import PROGRAM
from ..projects.accounts import project_accounts
from ..proof.depends import Asked, digest
from ..proof.model import ClassProof, Proof
from ..proof.node import ProofNode
from ..slurm import view as slurm_view
from ..slurm.model import Slurm
from .compose import apart_from
from .proof_view import proof_node

SETTINGS = "/etc/drawbridge/passport.json"
DEPENDS = (
    *("rails", "mtu_bytes", "tclass", "priority", "gid_index", "fabric"),
    *("gpus", "gpu_vendor", "gpu_product", "sockets", "cores", "memory_mib"),
)
"""The part of the intent that a passport depends on: hardware and network. Limits, tools and durations are no part of
it: a change of them would drain all nodes of the site at once."""


@apart_from(project_accounts)
def slurm_node(
    nodes: Nodes,
    slurm: Slurm,
    proof: Proof | None,
    fabric: Fabric | None,
    name: str,
    cgroups: bool,
    mounts: Sequence[str] = (),
) -> dict[str, Any]:
    """Files of slurmd on one node, and the hardware with which it registers.

    C(packages), options of M(drawbridge.drawbridge.slurm_packages); C(hardware), options of
    M(drawbridge.drawbridge.slurm_node_hardware); C(slurmd), files as M(drawbridge.drawbridge.slurm_daemon) takes them;
    C(ready), options of M(drawbridge.drawbridge.slurm_node_ready). C(passport), files as
    M(drawbridge.drawbridge.host_files) takes them, empty for a node that needs no passport. C(instances), options of
    M(drawbridge.drawbridge.gpu_instances), empty for GPUs without instances; C(instances_boot), the file from which a
    boot divides GPUs. C(modes), options of M(drawbridge.drawbridge.gpu_modes).
    """
    found = slurm_view.slurm_node(nodes, slurm, name, cgroups, mounts)
    asked = _asked(nodes, proof, fabric, name)
    if not asked:
        return {**found, "passport": []}
    file = {"path": SETTINGS, "content": asked.text(), "mode": "0644"}
    return {**found, "ready": {**found["ready"], "passport": PROGRAM}, "passport": [file]}


def _asked(nodes: Nodes, proof: Proof | None, fabric: Fabric | None, name: str) -> Asked | None:
    build, part = nodes.class_of(name), nodes.range_of(name)
    class_name = part.node_class if part else ""
    if not proof or not proof.classes.get(class_name, ClassProof()).passport:
        return None
    node = proof_node(class_name, build, proof, fabric)
    made_by = build.gpus.made_by if build.gpus.count else None
    return Asked(
        node=name,
        intent=intent_digest(node),
        most_days=proof.most_days,
        rails={rail.netdev: rail.rdma for rail in node.rails},
        driver=made_by.driver_version if made_by else "",
        gpus=made_by.about.format(pci="*") if made_by else "",
        gpu_key=made_by.identity if made_by else "",
    )


def intent_digest(node: ProofNode) -> str:
    """A digest of DEPENDS.

    Values that are the default are left out, so that a release with a further one changes no passport.
    """
    plain, default = node.as_dict(), ProofNode("", "").as_dict()
    return digest({key: plain[key] for key in DEPENDS if plain[key] != default[key]})
