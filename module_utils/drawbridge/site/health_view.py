# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Health joins nodes, Slurm and the proof: what a node looks at, and what the controller decides with."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from ..core import hostlist
from ..fabric.model import Fabric
from ..health.model import Health
from ..kube.model import Kube
from ..nodes.model import Nodes
from ..proof.model import Proof
from ..slurm.config.settings import preset
from ..slurm.model import Slurm
from .proof_view import proof_node

PLACE = "/etc/drawbridge/health.json"
REBOOT = "RebootProgram"
BOOT_S = "1800"
"""Slurm gives up a node that boots for longer, and its own limit is a minute. A server with GPUs takes many."""
TOKEN = "/var/lib/drawbridge/gate/health.token"
"""The gate renews it beside its own."""
Json = dict[str, Any]


def node_health(
    nodes: Nodes, slurm: Slurm, proof: Proof | None, health: Health | None, kube: Kube | None = None
) -> Json:
    """The configuration of the program that decides about findings; empty for a site without C(drawbridge_health).

    C(health) is the intent's. C(units) has hostlists of nodes by their unit, C(proofs) one of nodes whose class asks
    for a passport. C(kube) is how it reaches the API server.
    """
    if not health:
        return {}
    asks = {name for name, it in proof.classes.items() if it.passport} if proof else set()
    proved = [name for part in nodes.ranges if part.node_class in asks for name in hostlist.expand(part.names)]
    return {
        "health": asdict(health),
        "units": {unit: hostlist.compress(names) for unit, names in nodes.units.items()},
        "proofs": hostlist.compress(proved),
        "slurm_user": preset(slurm.settings, "SlurmUser"),
        **({"kube": {"url": kube.api_server, "ca_file": kube.ca_file, "token_file": TOKEN}} if kube else {}),
    }


def node_looks(nodes: Nodes, fabric: Fabric | None, health: Health | None, name: str) -> list[Json]:
    """The file of what a node looks at, for M(drawbridge.drawbridge.host_files); none without C(drawbridge_health)."""
    part = nodes.range_of(name)
    if not health or not part:
        return []
    # without what load checks alone need
    node = replace(proof_node(part.node_class, nodes.class_at(part), Proof(), fabric), name=name, tclass=0)
    wanted = {"node": node.as_dict(), "nhc": health.nhc, "report_only": [*health.report_only]}
    return [{"path": PLACE, "content": f"{json.dumps(wanted, indent=2)}\n", "mode": "0644", "passive": True}]


def reboots(slurm: Slurm, health: Health) -> Slurm:
    """Slurm with the program that reboots nodes, and time for it, if the site allows it: an expansion.

    The site's own lines win.
    """
    if not health.reboot.allowed:
        return slurm
    return replace(slurm, settings={REBOOT: health.reboot.program, "ResumeTimeout": BOOT_S, **slurm.settings})
