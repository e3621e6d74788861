# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A registered node: ready for jobs, kept back until it is proven, given up by Slurm, or kept back by somebody."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...core.converge import Step

SLURMS_OWN = "Not responding [slurm@"
"""The reason that slurmctld itself gives a node that it can't reach, up to its own name."""
JOINING = "drawbridge: joins, not proven yet"
"""Our own reason, for a node that Slurm knows before it is built."""
HARDWARE = "drawbridge: hardware"
"""How our own reason begins for a node that has not what its class has; the difference follows."""


HEALTH = "drawbridge: health"
"""How the reason begins that the node's own health check gives; what is wrong follows."""


@dataclass(frozen=True)
class NodeState:
    """A node as `scontrol show node` tells of it. `flags` are the words after the first of State=."""

    name: str
    state: str
    flags: frozenset[str] = frozenset()
    gres: str = field(default="", compare=False)
    reason: str = field(default="", compare=False)
    """Text and, in brackets, who set it and when."""

    def lines(self) -> list[str]:
        """The node as one line in Slurm's words."""
        state = "+".join([self.state, *sorted(self.flags)])
        reason = f" Reason={self.reason}" if self.reason and self.kept_back else ""
        return [f"NodeName={self.name} State={state}{reason}"]

    @property
    def kept_back(self) -> bool:
        """Whether new jobs stay away. A reason alone is no evidence: it outlives the drain."""
        return self.state == "DOWN" or bool(self.flags & {"DRAIN", "FAIL", "MAINTENANCE"})


def ready(name: str) -> NodeState:
    """A node that takes jobs."""
    return NodeState(name, "IDLE")


def plan(have: NodeState, want: NodeState) -> list[Step[NodeState]]:
    """Resume what waited for this proof, and what Slurm gave up; what somebody did on purpose is left to them."""
    if not have.kept_back:
        return []
    if "DRAIN" in have.flags and have.reason.rpartition(" [")[0] == JOINING:
        reason = f"resume {want.name}, which joins and has proved itself"
        return [Step(reason, lambda state: replace(state, state="IDLE", flags=state.flags - {"DRAIN"}), "resume")]
    for prefix, proof in ((HARDWARE, "has again what its class has"), (HEALTH, "is healthy again")):
        if "DRAIN" in have.flags and have.reason.startswith(f"{prefix}: "):
            reason = f"resume {want.name}, which {proof}"
            return [Step(reason, lambda state: replace(state, state="IDLE", flags=state.flags - {"DRAIN"}), "resume")]
    if have.state == "DOWN" and "DRAIN" not in have.flags and have.reason.startswith(SLURMS_OWN):
        reason = f"resume {want.name}, which Slurm had given up ({have.reason})"
        return [Step(reason, lambda state: replace(state, state="IDLE"), "resume")]
    word = "down" if have.state == "DOWN" else "drained"
    why = f"it is {word} with the reason: {have.reason or 'none'}"
    repair = f"when that is settled: scontrol update nodename={want.name} state=resume"
    return [Step(f"let {want.name} take jobs", lambda state: state, pending=f"{why}; {repair}")]
