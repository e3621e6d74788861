# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Walk one edge of a node's state by compare and swap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .api import Answer, Api
from .gate_names import LABEL
from .states import Edge, gate_taint

WORKERS = 8  # more only queue at the API server
TRIES = 4  # each one means that somebody else wrote between two requests of ours
PATCH = "application/json-patch+json"
MISSING = "not in Kubernetes"
"""Stands for the taint's value of a node that the API server does not know."""


class Swap(NamedTuple):
    """How a node stands after the attempt. It stands right if `value` is the edge's end."""

    node: str
    value: str
    changed: bool
    error: str = ""
    perhaps: bool = False
    """It is where the edge leads, and an answer to us was lost: we may have changed it, or somebody before us."""

    def reached(self, edge: Edge) -> bool:
        """The node is where the edge leads, whoever moved it."""
        return self.value == edge.after and not self.error


def swap(api: Api, node: str, edge: Edge) -> Swap:
    """Move a node along the edge: blindly at first, since the gate's taint nearly always is the first of the list."""
    path, index = f"/api/v1/nodes/{node}", 0
    for _ in range(TRIES):
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
            edge = edge._replace(label=None)  # a person may have taken it off, and what is not there can't be removed
        if value != edge.before:
            return Swap(node, value, False, perhaps=answer.again and value == edge.after)
    return Swap(node, edge.before, False, f"{node} was written by somebody else {TRIES} times in a row")


def swap_all(api: Api, nodes: Sequence[str], edge: Edge) -> list[Swap]:
    """Move all nodes, a few at a time. Raises Unreachable after every node was tried."""
    if len(nodes) <= 1:
        return [swap(api, node, edge) for node in nodes]
    from concurrent.futures import ThreadPoolExecutor  # not paid for by jobs of one node

    with ThreadPoolExecutor(min(WORKERS, len(nodes))) as pool:
        waiting = [pool.submit(swap, api, node, edge) for node in nodes]
    return [future.result() for future in waiting]


def _lost(answer: Answer) -> bool:
    """The patch's tests failed. A policy's refusal has the same status, and trying again won't help."""
    return answer.status in (409, 422) and "ValidatingAdmissionPolicy" not in answer.message
