# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Client nodes of a cluster."""

from __future__ import annotations

from typing import Any

from ....core.command import Command
from ....core.consent import VARIABLES_ARGUMENT
from ....core.converge import Settle
from ....core.layer import Layer, Params, Work
from ..io import MM_PATH, Mm
from .io import Cluster
from .plan import ACTIVE, Member, Membership, plan

SPEC: dict[str, Any] = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "cluster": {"type": "str", "default": ""},
    "accept_license": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
    "mm_path": {"type": "path", "default": MM_PATH},
    "lock_wait_s": {"type": "int", "default": 600},
    "settle_s": {"type": "int", "default": 300},
    "timeout_s": {"type": "int", "default": 120},
}
SECONDS_A_NODE = 5
"""mmaddnode takes two to three seconds for each node, one after the other."""


def work(params: Params, check: bool) -> Work[Membership]:
    """The membership of all nodes."""
    nodes = params["nodes"]
    mm = Mm(Command(params["timeout_s"] + SECONDS_A_NODE * len(nodes)), params["mm_path"], params["lock_wait_s"])
    want = Membership(dict.fromkeys(nodes, Member("client", ACTIVE)))
    return Work(Cluster(mm, nodes, params["cluster"]), plan, want, Settle(params["settle_s"]))


MM_NODE = Layer(SPEC, work)
