# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""States of a node: values of its taint, the edges between them, and one JSON patch for each edge.

    closed -> <namespace>.<job> -> dirty_<namespace>.<job> -> closed

Pure. No other edge exists. The gate does not touch a node in any other state.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .gate_names import CLOSED, DIRTY, LABEL, TAINT

PODS = "/api/v1/namespaces/{}/pods"
"""Collection of a namespace's pods."""

LABEL_PATH = "/metadata/labels/" + LABEL.replace("/", "~1")
"""Where the label is, in the words of a JSON Patch."""

Json = dict[str, Any]


class Owner(NamedTuple):
    """A Slurm job as the owner of nodes."""

    namespace: str
    job: int

    @property
    def held(self) -> str:
        """The taint's value while the job's pods may run."""
        return f"{self.namespace}.{self.job}"

    @property
    def dirty(self) -> str:
        """The taint's value from the job's end until the node is proved empty."""
        return f"{DIRTY}{self.held}"

    @property
    def prefix(self) -> str:
        """Prefix of the names of the job's workloads and pods. The dash separates job 471 from 4711."""
        return f"slurm-{self.job}-"


class Edge(NamedTuple):
    """One allowed change of a node's state."""

    name: str
    before: str
    after: str
    label: str | None = None
    """New value of the node's label: the job's number; "" removes the label, None leaves it unchanged."""

    def patch(self, index: int = 0) -> list[Json]:
        """Compare and swap: a JSON patch that the API server refuses if the node has left state `before`.

        `index` is the position of the gate's taint in the node's list.
        """
        taint, label = f"/spec/taints/{index}", LABEL_PATH
        patch: list[Json] = [
            {"op": "test", "path": f"{taint}/key", "value": TAINT},
            {"op": "test", "path": f"{taint}/value", "value": self.before},
            {"op": "replace", "path": f"{taint}/value", "value": self.after},
        ]
        if self.label:
            patch.append({"op": "add", "path": label, "value": self.label})
        elif self.label is not None:
            patch.append({"op": "remove", "path": label})
        return patch


def opening(owner: Owner) -> Edge:
    """closed -> held. The node's label admits pods that select this job."""
    return Edge("open", CLOSED, owner.held, str(owner.job))


def dirtying(owner: Owner) -> Edge:
    """held -> dirty: taint and label in one write, so that the kubelet refuses late binds."""
    return Edge("dirty", owner.held, owner.dirty, "")


def closing(owner: Owner) -> Edge:
    """dirty -> closed: only after the node is proved empty."""
    return Edge("close", owner.dirty, CLOSED)


def owner(value: str) -> Owner | None:
    """The job that a held or dirty node belongs to; None for any other value."""
    found = re.fullmatch(rf"(?:{DIRTY})?([a-z0-9-]+)[.]([0-9]+)", value)
    return Owner(found.group(1), int(found.group(2))) if found else None


def gate_taint(node: Json) -> tuple[int, str]:
    """Index and value of the gate's taint on a Node object; (-1, "") if the node has none."""
    for index, taint in enumerate(node.get("spec", {}).get("taints", [])):
        if taint.get("key") == TAINT:
            return index, taint.get("value", "")
    return -1, ""
