# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A wave of maintenance: drain its nodes, wait for their jobs, and mark those that failed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...core import hostlist
from ...core.command import Command
from ...core.layer import Layer, Params, Work, records
from .io import Wave
from .plan import WaveState, failure_of, plan, plan_failure, reason_of, wanted
from .view import Group

GROUP: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "nodes": {"type": "str", "required": True},
    "most": {"type": "int", "required": True},
}
SPEC: dict[str, Any] = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "done": {"type": "list", "elements": "str", "default": []},
    "maintenance": {"type": "str", "required": True},
    "until": {"type": "str", "default": ""},
    "groups": records(required=False, **GROUP),
    "wait_s": {"type": "int", "default": 600},
    "failed": {"type": "str", "default": ""},
}


def work(params: Params, check: bool) -> Work[WaveState]:
    """Drain the nodes and return those that no job uses. Check mode does not wait."""
    name, nodes = params["maintenance"], params["nodes"]
    failed = params["failed"]
    reason = failure_of(name, failed) if failed else reason_of(name, params["until"])
    device = Wave(Command(timeout_s=30), [*nodes, *params["done"]], reason)
    if failed:
        return Work(device, plan_failure, wanted(nodes, reason))

    def results(_unused: object) -> Mapping[str, Any]:
        jobs = device.left(name, 0 if check else params["wait_s"])
        waiting = [
            f"Slurm job {job} is on {node}; run this again when it has ended" for node, job in jobs.items() if job
        ]
        return {"empty": [node for node, job in jobs.items() if not job], "pending": waiting}

    groups = [Group(it["name"], tuple(hostlist.expand(it["nodes"])), it["most"]) for it in params["groups"]]
    drains = partial(plan, maintenance=name, groups=groups)
    return Work(device, drains, wanted(nodes, reason), results_of=results)


SLURM_MAINTENANCE = Layer(SPEC, work)
