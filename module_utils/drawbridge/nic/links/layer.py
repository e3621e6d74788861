# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""MTU, routes, ARP, global pause, rings, PCIe settings and interrupts of a node's RDMA network devices."""

from __future__ import annotations

from typing import Any

from ...core.command import Command, tool
from ...core.layer import Layer, Params, Work, records
from ...nodes.use_io import NodeUse
from .io import NicDevices
from .pcie import SIZES, WORDS
from .plan import NicLinks, plan, wanted

SPEC: dict[str, Any] = {
    "groups": records(
        interfaces={"type": "list", "elements": "str", "required": True},
        mtu_bytes={"type": "int", "required": True},
        own_addresses={"type": "bool", "default": False},
        ports={"type": "list", "elements": "str", "default": []},
        pause_off={"type": "bool", "default": True},
        ring_size={"type": "int", "default": 0},
        read_request_bytes={"type": "int", "choices": [0, *SIZES], "default": 0},
        relaxed_ordering={"type": "str", "choices": ["", *WORDS], "default": ""},
        interrupts_numa={"type": "list", "elements": "int", "default": []},
        route_table={"type": "int", "default": 0},
        gateway={"type": "str", "choices": ["", "first", "last"], "default": ""},
    ),
    "slurm_node": {"type": "str", "required": True},
    "timeout_s": {"type": "int", "default": 30},
}


def work(params: Params, check: bool) -> Work[NicLinks]:
    """All RDMA network devices of the host."""
    tool("ip")
    want, run = wanted(params["groups"]), Command(params["timeout_s"])
    use = NodeUse(run, params["slurm_node"])
    return Work(NicDevices(run, want), plan, want, in_use=use.busy)


NIC_LINK = Layer(SPEC, work, viewed=("groups", "slurm_node"))
