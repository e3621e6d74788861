# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who uses the nodes, as slurmctld answered once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core import hostlist
from .scontrol import fields, state_flags

USING = "R,CF,CG,S"
"""squeue's short names of the states in which a job uses its nodes."""
NOT_ASKED = "Slurm's controller was not asked in this run"


def closed(state: str, flags: frozenset[str]) -> bool:
    """Whether Slurm starts no job on a node in this state."""
    return state == "DOWN" or "DRAIN" in flags


@dataclass(frozen=True)
class ClusterUse:
    """Jobs and drains of all nodes. A node that is neither drained nor in a job may get one at any time."""

    drained: frozenset[str] = frozenset()
    jobs: Mapping[str, str] = field(default_factory=dict)
    """The job that uses a node, by the node's name."""
    why_unknown: str = NOT_ASKED
    """Why nothing is known; empty for an answer."""

    def why_not(self, node: str) -> str:
        """Why traffic of the node must not stop; empty if Slurm has drained it and no job is left on it."""
        if self.why_unknown:
            return self.why_unknown
        if job := self.jobs.get(node):
            return f"Slurm job {job} is on {node}"
        return "" if node in self.drained else f"{node} is not drained in Slurm"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for Ansible, nodes as hostlists; from_dict() reads it."""
        nodes: dict[str, list[str]] = {}
        for node, job in self.jobs.items():
            nodes.setdefault(job, []).append(node)
        jobs = {job: hostlist.in_order(names) for job, names in nodes.items()}
        return {"drained": _text(self.drained), "jobs": jobs, "unknown": self.why_unknown}

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> ClusterUse:
        """Read the data of as_dict(). No data means that Slurm was not asked."""
        jobs = {node: job for job, names in (raw.get("jobs") or {}).items() for node in hostlist.expand(names)}
        return cls(_names(raw.get("drained") or ""), jobs, str(raw.get("unknown", NOT_ASKED)))

    @classmethod
    def of(cls, shown: str, queue: str) -> ClusterUse:
        """Read `scontrol show node -o`, and `squeue` with lines of job and hostlist."""
        parts = [fields(line) for line in shown.splitlines() if line.startswith("NodeName=")]
        drained = frozenset(part["NodeName"] for part in parts if closed(*state_flags(part)))
        lines = [line.split() for line in queue.splitlines()]
        jobs = {node: words[0] for words in lines if len(words) > 1 for node in hostlist.expand(words[1])}
        return cls(drained, jobs, "")


def _text(names: frozenset[str]) -> str:
    return hostlist.in_order(sorted(names)) if names else ""


def _names(text: str) -> frozenset[str]:
    return frozenset(hostlist.expand(text)) if text else frozenset()
