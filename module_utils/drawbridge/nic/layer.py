# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The QoS of a node's RDMA ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.command import Command, tool
from ..core.consent import VARIABLES_ARGUMENT
from ..core.converge import Step
from ..core.layer import Layer, Params, Work, records
from ..nodes.use_io import NodeUse
from .backends_io import backends
from .io import NicPorts
from .plan import NicQos, flapping, plan, wanted

SPEC: dict[str, Any] = {
    "groups": records(
        interfaces={"type": "list", "elements": "str", "required": True},
        lossless_priorities={"type": "list", "elements": "int", "required": True},
        dscp_priorities=records(
            dscp={"type": "int", "required": True},
            priority={"type": "int", "required": True},
        ),
        bandwidth=records(
            required=False,
            priority={"type": "int", "required": True},
            percent={"type": "int", "required": True},
        ),
        cable_m={"type": "int", "default": 0},
        pci_vendor={"type": "str", "default": ""},
    ),
    "may_flap_links": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
    "slurm_node": {"type": "str", "required": True},
    "timeout_s": {"type": "int", "default": 30},
}


def work(params: Params, check: bool) -> Work[NicQos]:
    """All ports of the host."""
    want, run = wanted(params["groups"]), Command(params["timeout_s"])
    use = NodeUse(run, params["slurm_node"])
    ports = NicPorts(run, backends(run, tool), want, tool("ip"))

    def results(steps: Sequence[Step[NicQos]]) -> dict[str, Any]:
        return {"link_flap": flapping(steps), "backends": ports.chosen}

    return Work(ports, plan, want, in_use=use.busy, results_of=results)


MLNX_QOS = Layer(SPEC, work, viewed=("groups", "slurm_node"))
