# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The records of new nodes in slurmctld."""

from __future__ import annotations

from typing import Any

from ...core.command import Command
from ...core.layer import Layer, Params, Unknown, Work
from ...core.units import Unit
from .new_io import Records
from .new_plan import NewNodes, drained, plan

SPEC: dict[str, Any] = {"nodes": {"type": "list", "elements": "str", "required": True}}
SETTLE_S = 150
"""Time of a node in service that missed slurmctld's ping to answer the next one."""


def work(params: Params, check: bool) -> Work[NewNodes]:
    """Keep jobs off nodes that are not in service yet."""
    run, nodes = Command(timeout_s=30), params["nodes"]
    if not Unit("slurmctld.service", run).read().active:
        raise Unknown("slurmctld.service does not run yet")
    return Work(Records(run, nodes, SETTLE_S), plan, drained(nodes))


SLURM_NEW_NODES = Layer(SPEC, work)
