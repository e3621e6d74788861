# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the engine needs of Slurm, and which nodes a proof may take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...core.converge import DeviceError
from ...nodes.passport_io import REASON
from ..measure import Found
from ..node import ProofNode
from ..schedule.site import Test
from .request import Answer, Request

UNPROVED = "drawbridge: proof"
"""The start of the reason of nodes that a proof drained, or that wait for their first one."""
OWN_DRAINS = (f"{UNPROVED}: ", REASON)
"""Drains that end when a proof passes."""
FINDINGS = re.compile(r"drawbridge: health: (.*; )?\[(node|user|fabric) (reboot|repair)\] ")
"""Drains for findings that end with a reboot or a repair: a proof that passes ends them, too."""
FREE = {"IDLE"}
BUSY = {
    *("MAINTENANCE", "RESERVED", "COMPLETING", "PLANNED", "FAIL", "POWERED_DOWN"),
    *("REBOOT_REQUESTED", "REBOOT_ISSUED"),
}


@dataclass(frozen=True)
class NodeInSlurm:
    """A node's state in Slurm: base state, flags, reason as it was given, and a job that uses it."""

    state: str
    flags: frozenset[str] = frozenset()
    reason: str = ""
    job: str = ""

    @property
    def own_drain(self) -> bool:
        """Whether only a drain that a proof may end keeps jobs off."""
        ends = self.reason.startswith(OWN_DRAINS) or FINDINGS.match(self.reason)
        return "DRAIN" in self.flags and bool(ends)


class Interrupted(DeviceError):
    """Slurm ended a job of the proof for another one, or a person did. It says nothing about nodes."""


class Cluster(Protocol):
    """Slurm and its nodes. All methods raise DeviceError."""

    def clean(self) -> None:
        """End jobs and the reservation of an earlier proof."""
        raise NotImplementedError

    def states(self, names: Sequence[str]) -> Mapping[str, NodeInSlurm]:
        """The nodes' states; a node that Slurm does not know is absent."""
        raise NotImplementedError

    def reserve(self, names: Sequence[str]) -> None:
        """Keep others off these nodes for 15 minutes; asking prolongs it."""
        raise NotImplementedError

    def resume(self, names: Sequence[str]) -> None:
        """End the drains of these nodes."""
        raise NotImplementedError

    def drain(self, name: str, reason: str) -> None:
        """Keep jobs off this node."""
        raise NotImplementedError

    def ask(self, request: Request, names: Sequence[str], limit_s: float) -> Mapping[str, Answer]:
        """Run the workers of these nodes in one job; a node that did not answer is absent."""
        raise NotImplementedError

    def collective(self, tests: Sequence[Test], node: ProofNode, limit_s: float) -> Mapping[int, Sequence[Found]]:
        """Run nccl-tests over the nodes of each test at the same time; findings by the number of the test.

        All nodes are of the class of `node`.
        """
        raise NotImplementedError

    def release(self) -> None:
        """End the reservation."""
        raise NotImplementedError


def why_not(node: NodeInSlurm | None, idle_only: bool = False) -> str:
    """Why a proof leaves this node alone; empty if it may take it. A patrol takes idle nodes alone."""
    if node is None:
        return "Slurm does not know it"
    if node.job:
        return f"job {node.job} runs on it"
    if "NOT_RESPONDING" in node.flags or (node.state == "DOWN" and not node.own_drain):
        return f"it is down ({node.reason or 'no reason'})"
    if "DRAIN" in node.flags and (idle_only or not node.own_drain):
        return f"it is drained with the reason: {node.reason or 'none'}"
    if busy := sorted(node.flags & BUSY):
        return f"Slurm says {' and '.join(busy)}"
    return "" if node.state in FREE or node.own_drain else f"its state is {node.state}"
