# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Client nodes of a cluster, and their own configuration before they join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ....core.command import Command
from ....core.consent import VARIABLES_ARGUMENT, variable
from ....core.converge import Step
from ....core.layer import Layer, Params, Work
from ..io import MM_PATH, Mm
from .hints import Hints, Local
from .io import Cluster, Names, resolve
from .plan import UNKNOWN, Member, Membership, plan

READING: dict[str, Any] = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "cluster": {"type": "str", "default": ""},
    "daemon_suffix": {"type": "str", "default": ""},
    "admin_suffix": {"type": "str", "default": ""},
    "mm_path": {"type": "path", "default": MM_PATH},
    "timeout_s": {"type": "int", "default": 120},
}
SPEC: dict[str, Any] = {
    **READING,
    "absent": {"type": "list", "elements": "str", "default": []},
    "dead": {"type": "list", "elements": "str", "default": []},
    "stopping": {"type": "list", "elements": "str", "default": []},
    "local": {"type": "dict", "default": {}},
    "ask_first": {"type": "bool", "default": False},
    "accept_license": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
    "lock_wait_s": {"type": "int", "default": 600},
}
SECONDS_A_NODE = 5
"""mmaddnode takes two to three seconds for each node, one after the other."""


def _cluster(params: Params, nodes: Sequence[str], lock_wait_s: float = 0) -> Cluster:
    mm = Mm(Command(params["timeout_s"] + SECONDS_A_NODE * len(nodes)), params["mm_path"], lock_wait_s)
    names = Names(params["daemon_suffix"], params["admin_suffix"])
    return Cluster(mm, nodes, params["cluster"], names, address=resolve)


def work(params: Params, check: bool) -> Work[Membership]:
    """The membership of all nodes. A node that the cluster refuses is pending, and the others go on."""
    nodes, absent = params["nodes"], params["absent"]
    device = _cluster(params, [*nodes, *absent], params["lock_wait_s"])
    local = {name: Local(str(known.get("cluster_id") or "")) for name, known in params["local"].items()}
    stopping = frozenset(params["stopping"] if check else ())
    hints = Hints(local, frozenset(params["dead"]), stopping, variable(params, "dead"), params["ask_first"])
    want = Membership({**dict.fromkeys(nodes, Member("client")), **dict.fromkeys(absent)})

    def planned(have: Membership, wanted: Membership) -> list[Step[Membership]]:
        rest = {name: member for name, member in wanted.nodes.items() if name not in device.refused}
        known = {**local, **dict.fromkeys(device.configured, Local(have.cluster_id))}
        return plan(have, Membership(rest), replace(hints, local=known))

    return Work(device, planned, want, results_of=partial(_done, device))


def _done(device: Cluster, steps: Sequence[Step[Membership]]) -> dict[str, Any]:
    """Steps of nodes that the cluster did not refuse; the others wait."""
    if not device.refused:
        return {}
    done = [step.reason for step in steps if step.payload.node not in device.refused]
    return {"steps": done, "changed": bool(done), "pending": list(device.refused.values())}


MM_NODE = Layer(SPEC, work)


def look(params: Params, check: bool) -> Work[Membership]:
    """Nodes that are no members, and members of which the cluster knows nothing. It changes nothing."""
    device = _Looking(_cluster(params, params["nodes"]))
    return Work(device, lambda have, want: [], Membership({}), results_of=lambda _: device.found())


class _Looking:
    """A cluster that is only read, once."""

    def __init__(self, cluster: Cluster) -> None:
        self.name, self._cluster, self._seen = cluster.name, cluster, Membership({})

    def read(self) -> Membership:
        self._seen = self._cluster.read()
        return self._seen

    def apply(self, steps: Sequence[Step[Membership]]) -> None:
        """Nothing is planned."""

    def found(self) -> Mapping[str, Any]:
        nodes = self._seen.nodes
        return {
            "cluster_id": self._seen.cluster_id,
            "absent": [name for name, member in nodes.items() if not member],
            "unknown": [name for name, member in nodes.items() if member and _lost(member)],
        }


def _lost(member: Member) -> bool:
    return member.state == UNKNOWN or not member.configured


MM_CLUSTER_INFO = Layer(READING, look)
