# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings and counters of a node's RDMA NICs, read in one call."""

from __future__ import annotations

from typing import Any

from ...core.command import Command
from ...core.layer import Layer, Params, Work, records
from ...core.reading import Nothing, reading
from .io import NicStates

SPEC: dict[str, Any] = {
    "devices": records(
        netdev={"type": "str", "required": True},
        ports={"type": "list", "elements": "str", "required": True},
        rdma={"type": "str"},
    ),
    "timeout_s": {"type": "int", "default": 30},
}


def work(params: Params, check: bool) -> Work[Nothing]:
    """All RDMA NICs of the host."""
    del check
    states = NicStates(Command(params["timeout_s"]))
    return reading("RDMA NICs", lambda: {"nics": states.read(params["devices"])})


NIC_STATE = Layer(SPEC, work)
