# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The RoCE settings of a node's RDMA devices."""

from __future__ import annotations

from typing import Any

from ...core.command import Command
from ...core.layer import Layer, Params, Work
from .io import RdmaDevices
from .plan import NicRoces, plan, wanted

DEVICES: dict[str, Any] = {
    "type": "list",
    "elements": "dict",
    "required": True,
    "options": {
        "netdev": {"type": "str", "required": True},
        "rdma": {"type": "str", "required": True},
        "ports": {"type": "list", "elements": "str", "required": True},
    },
}
SPEC: dict[str, Any] = {
    "groups": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "devices": DEVICES,
            "tos": {"type": "int", "required": True},
            "cnp_dscp": {"type": "int", "required": True},
            "cnp_priority": {"type": "int", "required": True},
            "ecn_priorities": {"type": "list", "elements": "int", "required": True},
            "needs_gid": {"type": "bool", "required": True},
        },
    },
    "timeout_s": {"type": "int", "default": 30},
}


def work(params: Params, check: bool) -> Work[NicRoces]:
    """All RDMA devices of the host."""
    want = wanted(params["groups"])
    return Work(RdmaDevices(Command(params["timeout_s"]), want), plan, want)


NIC_ROCE = Layer(SPEC, work)
