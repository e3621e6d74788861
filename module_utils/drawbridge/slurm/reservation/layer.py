# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A reservation of nodes in maintenance."""

from __future__ import annotations

from typing import Any

from ...core.command import Command
from ...core.layer import Layer, Params, Work
from .io import Reserved
from .plan import Reservation, plan

SPEC: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "nodes": {"type": "list", "elements": "str", "required": True},
    "minutes": {"type": "int", "default": 60},
}


def work(params: Params, check: bool) -> Work[Reservation]:
    """The reservation with exactly these nodes; none without nodes."""
    want = Reservation(params["name"], frozenset(params["nodes"]))
    return Work(Reserved(Command(timeout_s=30), want, params["minutes"]), plan, want)


SLURM_RESERVATION = Layer(SPEC, work)
