# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node leaves Slurm."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core.command import Command
from ...core.layer import Layer, Params, Work
from ...core.units import Unit
from ...nodes.use_io import NodeUse
from .leave_io import Member
from .leave_plan import SLURMD, MemberState, plan

SPEC: dict[str, Any] = {"name": {"type": "str", "required": True}}
KUBELET = "the kubelet runs; remove this node from Kubernetes first, which also waits until it is closed"


def work(params: Params, check: bool) -> Work[MemberState]:
    """Switch off what makes this host a node of the cluster. It queries Slurm only while slurmd runs.

    Later runs could not: munged is off by then.
    """
    del check
    run = Command(timeout_s=120)
    return Work(Member(run), partial(plan, why_not=stays(run, params["name"])), MemberState())


def stays(run: Command, name: str) -> str:
    """Why the node must not leave now; empty if it may."""
    if Unit("kubelet.service", run).read().active:
        return KUBELET
    use = NodeUse(run, name) if Unit(SLURMD, run).read().active else None
    return (use.busy() or use.undrained()) if use else ""


SLURM_NODE_LEFT = Layer(SPEC, work)
