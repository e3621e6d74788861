# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The wait for a node that the gate closes after its last job."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable

from ...core.api.host import Server
from ...core.command import Command
from ...core.converge import DeviceError
from ...core.layer import Layer, Params, Work
from ...core.reading import Nothing, reading
from ...nodes.use_io import NodeUse
from ..node_object_io import NodeObject

SPEC: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "api_server": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
    "certificate": {"type": "path", "default": "/var/lib/kubelet/pki/kubelet-client-current.pem"},
    "wait_s": {"type": "int", "default": 300},
}
PAUSE_S = 2.0


class GatedNode:
    """This node, which a job or its pods may still use."""

    def __init__(self, node: NodeObject, use: NodeUse) -> None:
        self._node, self._use = node, use

    def in_use(self) -> str:
        """Why it is not closed and empty yet. A host that is no member has no gate."""
        return (self._node.read().in_use if self._node.member else "") or self._use.busy()


def work(params: Params, check: bool) -> Work[Nothing]:
    """Read until the node is closed and empty."""
    node = NodeObject(Server(params["api_server"], params["ca_file"]), Path(params["certificate"]), params["name"])
    gated = GatedNode(node, NodeUse(Command(timeout_s=30), params["name"]))
    wait_s = 0 if check else params["wait_s"]
    return reading("the gate", lambda: _closed(gated.in_use, params["name"], wait_s, check))


def _closed(why_not: Callable[[], str], name: str, wait_s: float, check: bool) -> Mapping[str, Any]:
    deadline = time.monotonic() + wait_s
    while (why := why_not()) and time.monotonic() < deadline:
        time.sleep(PAUSE_S)
    if why and not check:
        raise DeviceError(f"{name} is not closed after {wait_s:g} s: {why}")
    return {"pending": [why] if why else []}


KUBE_NODE_CLOSED = Layer(SPEC, work)
