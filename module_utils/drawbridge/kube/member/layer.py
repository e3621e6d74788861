# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A host's membership in the cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.api.host import Server
from ...core.command import Command
from ...core.daemon.plan import DaemonState
from ...core.layer import Layer, Params, Work
from ...core.placed.text import FILE, Item, items
from ...nodes.use_io import NodeUse
from ..node_object_io import NodeObject
from ..options import MEMBER
from ..unit_io import KubeUnit
from .io import Bootstrap, Endpoint, JoinedBySite, Leaver, Member
from .plan import NO_MEMBER, MemberState, leave, no_steps, plan
from .text import BOOTSTRAP, DROP_IN, UNIT, files

COMMAND_S = 120.0
SPEC: dict[str, Any] = {
    **MEMBER,
    "ca": {"type": "str", "default": ""},
    "token": {"type": "str", "default": "", "no_log": True},
}


def work(params: Params, check: bool) -> Work[MemberState]:
    """Join or leave; a membership that the site has made is only checked."""
    run = Command(COMMAND_S)
    own = files(params) if params["join"] else {}
    want = MemberState(DaemonState(UNIT, own, passive=frozenset({params["ca_file"]})), True, True)
    unit = KubeUnit(want.daemon, run, params["program"], [BOOTSTRAP] if params["join"] else [])
    node = NodeObject(Server(params["api_server"], params["ca_file"]), Path(params["certificate"]), params["name"])
    endpoint = Endpoint(params["address"], params["ca_file"], params["timeout_s"])
    member = Member(endpoint, unit, node, run, Bootstrap(params["api_server"], params["ca"], params["token"]))
    use = NodeUse(run, params["name"])
    if params["state"] == "absent":
        leaver = Leaver(member, use)
        return Work(leaver, leave, NO_MEMBER, in_use=leaver.in_use)
    if not params["join"]:
        return Work(JoinedBySite(member, params), no_steps, want)
    return Work(member, plan, want, in_use=use.busy)


def places(params: Params) -> list[Item]:
    """The unit's drop-in, of a node that Drawbridge joins. A node that leaves removes it itself."""
    return items(FILE, [DROP_IN] if params["join"] and params["state"] == "present" else [])


KUBE_MEMBER_HOST = Layer(SPEC, work, places=places)
