# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The RoCE settings of a node's RDMA devices."""

from __future__ import annotations

from typing import Any

from ...core.command import Command
from ...core.consent import VARIABLES_ARGUMENT, variable
from ...core.layer import Layer, Params, Work, records
from .io import RdmaDevices
from .places import RATES
from .plan import NicRoces, plan, wanted

DEVICES: dict[str, Any] = records(
    netdev={"type": "str", "required": True},
    rdma={"type": "str", "required": True},
    ports={"type": "list", "elements": "str", "required": True},
)
RATE_OPTIONS: dict[str, Any] = records(
    required=False,
    name={"type": "str", "required": True, "choices": list(RATES)},
    value={"type": "int", "required": True},
)
SPEC: dict[str, Any] = {
    "groups": records(
        devices=DEVICES,
        tos={"type": "int", "required": True},
        cnp_dscp={"type": "int", "default": -1},
        cnp_priority={"type": "int", "default": -1},
        ecn_priorities={"type": "list", "elements": "int", "required": True},
        ecn_enabled={"type": "bool", "default": True},
        rates=RATE_OPTIONS,
        needs_gid={"type": "bool", "required": True},
        gid_index={"type": "int", "default": -1},
    ),
    "firmware": records(
        required=False,
        ports={"type": "list", "elements": "str", "required": True},
        parameters={"type": "list", "elements": "str", "required": True},
    ),
    "may_set_firmware": {"type": "bool", "default": False},
    "gpu_direct": {"type": "bool", "default": False},
    "topology_file": {"type": "str", "default": ""},
    **VARIABLES_ARGUMENT,
    "timeout_s": {"type": "int", "default": 30},
}


def work(params: Params, check: bool) -> Work[NicRoces]:
    """All RDMA devices of the host."""
    kept = "" if params["may_set_firmware"] else f"add {variable(params, 'may_set_firmware')}: true"
    want = wanted(params["groups"], params["firmware"], kept)
    device = RdmaDevices(Command(params["timeout_s"]), want, params["gpu_direct"], params["topology_file"])
    return Work(device, plan, want)


NIC_ROCE = Layer(SPEC, work, viewed=("groups", "firmware", "gpu_direct", "topology_file"))
