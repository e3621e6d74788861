# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The records of nodes that retire, in slurmctld."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.command import Command
from ...core.layer import Layer, Params, Work
from .new_plan import NewNodes, plan_retirement, retired
from .retire_io import Retiring

SPEC: dict[str, Any] = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "wait_s": {"type": "int", "default": 600},
}


def work(params: Params, check: bool) -> Work[NewNodes]:
    """Drain the nodes and return those that no job uses. Check mode does not wait."""
    device = Retiring(Command(timeout_s=30), params["nodes"])

    def results(_unused: object) -> Mapping[str, Any]:
        why = device.left(0 if check else params["wait_s"])
        return {"empty": [name for name in why if not why[name]], "pending": [text for text in why.values() if text]}

    return Work(device, plan_retirement, retired(params["nodes"]), results_of=results)


SLURM_RETIRING_NODES = Layer(SPEC, work)
