# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Change a node's state along one edge, by compare and swap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .api import Answer, Api
from .config import Refused
from .gate_names import LABEL
from .states import Edge, gate_taint

WORKERS = 8  # more would only queue at the API server
TRIES = 4  # each one lost to a write of another client
PATCH = "application/json-patch+json"
MISSING = "not in Kubernetes"
"""In place of the taint's value, for a node that the API server does not have."""


class Swap(NamedTuple):
    """A node after an attempt to move it; `value` is its taint's value."""

    node: str
    value: str
    changed: bool
    error: str = ""
    perhaps: bool = False
    """The node has the new state, but an answer was lost: this program or another one moved it."""

    def reached(self, edge: Edge) -> bool:
        """Whether the node has the edge's new state, whoever moved it."""
        return self.value == edge.after and not self.error


def taint(node: str, api: Api) -> str:
    """The value of the node's taint; "" without one. Raises Refused, Unreachable."""
    found = api.get(f"/api/v1/nodes/{node}")
    if not found.ok:
        raise Refused(f"can't read node {node}: {found.message}")
    return gate_taint(found.body)[1]


def swap(api: Api, node: str, edge: Edge) -> Swap:
    """Move a node along the edge. The first try assumes that the gate's taint is the first of the list."""
    path, index = f"/api/v1/nodes/{node}", 0
    for _attempt in range(TRIES):
        answer = api.call("PATCH", path, edge.patch(index), PATCH)
        if answer.ok:
            return Swap(node, edge.after, True)
        if answer.status == 404:
            return Swap(node, MISSING, False)
        if not _lost(answer):
            return Swap(node, "", False, answer.message)
        now = api.get(path)
        if not now.ok:
            return Swap(node, "", False, now.message)
        index, value = gate_taint(now.body)
        if edge.label == "" and LABEL not in now.body["metadata"].get("labels", {}):
            edge = edge._replace(label=None)  # a person may have removed it, and the patch must not remove it again
        if value != edge.before:
            return Swap(node, value, False, perhaps=answer.again and value == edge.after)
    return Swap(node, edge.before, False, f"{node} was written by another client {TRIES} times in a row")


def swap_all(api: Api, nodes: Sequence[str], edge: Edge) -> list[Swap]:
    """Move all nodes, a few at a time. Raises Unreachable after every node was tried."""
    if len(nodes) <= 1:
        return [swap(api, node, edge) for node in nodes]
    from concurrent.futures import ThreadPoolExecutor  # jobs of one node save this import

    with ThreadPoolExecutor(min(WORKERS, len(nodes))) as pool:
        waiting = [pool.submit(swap, api, node, edge) for node in nodes]
    return [future.result() for future in waiting]


def _lost(answer: Answer) -> bool:
    """Whether the patch's tests failed. A policy's refusal has the same status, but is final."""
    return answer.status in (409, 422) and "ValidatingAdmissionPolicy" not in answer.message
