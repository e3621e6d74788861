# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A registered node: ready for jobs, drained by Drawbridge, not responding, or drained by an administrator."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ...core.converge import Step
from ...nodes.passport_io import REASON as PASSPORT

NOT_RESPONDING = "Not responding [slurm@"
"""The start of the reason that slurmctld itself gives a node that it can't reach."""
SILENT_TOO = " : Not responding"
"""What slurmctld appends to the reason of a drained node that it can't reach."""
REBOOTED = "Node unexpectedly rebooted [slurm@"
"""The start of its reason for a node that booted while slurmctld thought it up, such as after a power cut."""
JOINING = "drawbridge: joins, not proven yet"
"""Drawbridge's reason for a node that is in Slurm before it is built."""
RETIRING = "drawbridge: retires"
"""Drawbridge's reason for a node that leaves the cluster. Only onboarding ends that drain."""
REINSTALLING = "drawbridge: is installed again"
"""The reason that people give a node before they install it again. Onboarding ends that drain, too."""
HARDWARE = "drawbridge: hardware"
"""The start of Drawbridge's reason for a node whose hardware differs from its class."""
MAINTENANCE = "drawbridge: maintenance"
"""The start of Drawbridge's reason for a node in maintenance; the maintenance's name follows."""
HEALTH = "drawbridge: health"
"""The start of the reason that the node's health check gives; the findings follow."""
FEWER = re.compile(r"gres/gpu\S* count (reported lower than configured|too low) \([0-9]+ < [0-9]+\) \[slurm@")
"""slurmctld's own reason for a node that registered with fewer GPUs or instances than slurm.conf has."""
WAITS = re.compile(r"\[(node|user|fabric) (repair|reboot)\]")
"""In that reason: a finding whose drain a run does not end, because the node must be proved or rebooted first."""
RESUME = "resume"


@dataclass(frozen=True)
class NodeState:
    """A node as `scontrol show node` prints it. `flags` are the words of State= after the first."""

    name: str
    state: str
    flags: frozenset[str] = frozenset()
    gres: str = field(default="", compare=False)
    reason: str = field(default="", compare=False)
    """The text, and in brackets the user and the time."""
    unproved: str = field(default="", compare=False)
    """Why the node has no valid passport; empty if it has one, or needs none."""

    def lines(self) -> list[str]:
        """The node as one line in Slurm's words."""
        state = "+".join([self.state, *sorted(self.flags)])
        reason = f" Reason={self.reason}" if self.reason and self.unavailable else ""
        return [f"NodeName={self.name} State={state}{reason}"]

    @property
    def unavailable(self) -> bool:
        """Whether the node gets no new jobs. A reason alone proves nothing: it stays after the drain."""
        return self.state == "DOWN" or bool(self.flags & {"DRAIN", "FAIL", "MAINTENANCE"})

    @property
    def given_reason(self) -> str:
        """The reason as it was given, without user and time, and without what slurmctld appends."""
        return self.reason.rpartition(" [")[0].partition(SILENT_TOO)[0]

    @property
    def reserved(self) -> bool:
        """Whether only a reservation for maintenance (flags=maint) keeps jobs off."""
        return "MAINTENANCE" in self.flags and self.state != "DOWN" and not self.flags & {"DRAIN", "FAIL"}


def ready(name: str) -> NodeState:
    """A node that takes jobs."""
    return NodeState(name, "IDLE")


def maintained(node: NodeState, maintenance: str) -> bool:
    """Whether the maintenance of this name has drained the node, and nothing else has since."""
    return "DRAIN" in node.flags and node.reason.startswith(f"{MAINTENANCE} {maintenance} ")


def plan(have: NodeState, want: NodeState, maintenance: str = "", prove: str = "") -> list[Step[NodeState]]:
    """Resume a node that Drawbridge had drained, or that did not respond. Other drains are only reported.

    A node in maintenance is resumed by its own maintenance alone. A reservation for it may last longer.
    A node without a valid passport is not resumed: its proof and its health check lift the drain. `prove` is the
    command for a proof.
    """
    if have.unproved:
        return _unproved(have, want.name, maintenance, prove)
    if not have.unavailable or (maintenance and have.reserved):
        return []
    if proof := _proof(have, maintenance):
        reason = f"resume {want.name}, which {proof}"
        return [Step(reason, lambda state: replace(state, state="IDLE", flags=state.flags - {"DRAIN"}), RESUME)]
    [why] = drained_by_others(have, maintenance)
    repair = f"when that is settled: scontrol update nodename={want.name} state=resume"
    return [Step(f"let {want.name} take jobs", lambda state: state, pending=f"{why}; {repair}")]


def _unproved(have: NodeState, name: str, maintenance: str, prove: str) -> list[Step[NodeState]]:
    """A drain that would be lifted gets the reason that the proof lifts. Others stay, and a node in service does."""
    why = f"it needs a valid passport ({have.unproved}){prove and f'; prove it: {prove}'}"
    others = "".join(f", and {other}" for other in drained_by_others(have, maintenance))
    waits = Step[NodeState](f"let {name} take jobs", lambda state: state, pending=f"{why}{others}")
    if "DRAIN" not in have.flags or have.reason.startswith(PASSPORT) or not _proof(have, maintenance):
        return [waits]
    reason = f"{PASSPORT}{have.unproved}"
    keep = f"keep {name} drained until it has a passport; its reason was: {have.given_reason}"
    return [Step(keep, lambda state: replace(state, reason=reason), reason), waits]


def drained_by_others(have: NodeState, maintenance: str = "") -> list[str]:
    """Why the node stays without jobs even when it is healthy; nothing if it need not."""
    if not have.unavailable or (maintenance and have.reserved) or _proof(have, maintenance):
        return []
    word = "down" if have.state == "DOWN" else "drained"
    return [f"it is {word} with the reason: {have.reason or 'none'}"]


def _proof(have: NodeState, maintenance: str) -> str:
    """Why this node may be resumed; empty: it may not."""
    if "DRAIN" not in have.flags:
        if have.state == "DOWN" and have.reason.startswith(REBOOTED):
            return f"has booted ({have.reason})"
        silent = have.state == "DOWN" and have.reason.startswith(NOT_RESPONDING)
        return f"did not respond ({have.reason})" if silent else ""
    if maintenance and maintained(have, maintenance):
        return f"has had its maintenance {maintenance}, and is proved ready"
    if have.given_reason == JOINING:
        return "joins and is proved ready"
    if FEWER.match(have.reason) and "INVALID_REG" not in have.flags:
        return f"has registered with all its GPUs ({have.reason})"
    if have.reason.startswith(f"{HARDWARE}: "):
        return "has all hardware of its class again"
    return "is healthy again" if have.reason.startswith(f"{HEALTH}: ") and not WAITS.search(have.reason) else ""
