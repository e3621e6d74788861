# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The proof that a node is ready for jobs."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable

from ...core.command import Command
from ...core.converge import DeviceError, Settle
from ...core.layer import Layer, Params, Unknown, Work
from ...core.units import Unit
from ...nodes.passport_io import unproved
from .ready_io import LOOK_S, Node, check_health
from .ready_plan import NodeState, drained_by_others, plan, ready

SPEC: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "gres": {"type": "str", "default": ""},
    "health": {"type": "path", "default": ""},
    "passport": {"type": "path", "default": ""},
    "maintenance": {"type": "str", "default": ""},
    "prove": {"type": "str", "default": ""},
}
SETTLE_S = 240
"""Slurm pings a node that missed a ping again only after a minute or two."""


def work(params: Params, check: bool) -> Work[NodeState]:
    """The node's record in slurmctld."""
    run = Command(timeout_s=30)
    if not Unit("slurmd.service", run).read().active:
        raise Unknown("slurmd.service does not run yet")
    look = partial(check_health, Command(LOOK_S), params["health"], bool(params["passport"]))
    passport = partial(unproved, Command(LOOK_S), params["passport"])
    node = Node(run, params["name"], params["gres"], str if check else look, SETTLE_S, passport)
    resume = partial(plan, maintenance=params["maintenance"], prove=params["prove"])
    # a run repairs mounts and ports before this layer, check mode does not
    if check and (wrong := _findings(look)):
        raise Unknown(f"{params['name']} is not healthy ({wrong}){_drained(node, params['maintenance'])}")
    return Work(node, resume, ready(params["name"]), Settle(timeout_s=SETTLE_S))


def _findings(look: Callable[[], str]) -> str:
    """The findings; a health check that fails is one too."""
    try:
        return look()
    except DeviceError as err:
        return str(err)


def _drained(node: Node, maintenance: str) -> str:
    """Who keeps it from jobs besides; empty if no one does, or if Slurm does not say."""
    try:
        return "".join(f", and {why}" for why in drained_by_others(node.now(), maintenance))
    except DeviceError:
        return ""


SLURM_NODE_READY = Layer(SPEC, work, viewed=("name", "gres", "health", "passport"))
