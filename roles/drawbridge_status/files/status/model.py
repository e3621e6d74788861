# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node: Slurm's side, Kubernetes' side and reports of runs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

OK, WARNING, CRITICAL, UNKNOWN = range(4)
"""Levels, and exit codes of the worst one. Monitoring systems use the same numbers."""


class SlurmNode(NamedTuple):
    """A node in `scontrol show node`."""

    name: str
    state: str = "UNKNOWN"
    flags: frozenset[str] = frozenset()
    reason: str = ""
    by: str = ""
    since: str = ""
    partitions: tuple[str, ...] = ()
    comment: str = ""
    """Where the health check of the node writes its findings."""

    @property
    def drained(self) -> bool:
        """Whether the node gets no new jobs. A reason alone proves nothing: it stays after the drain."""
        return self.state == "DOWN" or bool(self.flags & {"DRAIN", "FAIL"})

    @property
    def shown(self) -> str:
        """State and flags in Slurm's words."""
        return "+".join([self.state, *sorted(self.flags)])


class Job(NamedTuple):
    """A job in squeue."""

    number: str
    user: str
    partition: str
    state: str
    since: str = ""
    comment: str = ""
    nodes: tuple[str, ...] = ()


class Member(NamedTuple):
    """A Node object of Kubernetes."""

    name: str
    gate: str
    """The gate's state: closed, held, dirty, open, foreign."""
    value: str = ""
    """The taint's value."""
    owner: str = ""
    """Number of the job that a held or dirty node names."""
    ready: bool = True
    cordoned: bool = False
    adopting: bool = False
    moved: str = ""
    """When the gate changed its state last; of a closed node, when the gate proved it empty."""


class Actor(NamedTuple):
    """A write of another program or person."""

    what: str
    who: str
    """A program, as the API server names it, or a user of Slurm; "" if unknown."""
    when: str = ""


class Event(NamedTuple):
    """One line of the history of a node's health."""

    time: float
    """Seconds since the epoch."""
    what: str
    """Such as found, gone, drained, lifted, kept, rebooted."""
    text: str = ""


class LastRun(NamedTuple):
    """The latest run that had a result of the node."""

    playbook: str
    started: str
    findings: tuple[tuple[str, str], ...] = ()
    """Kind and text; steps that were made are left out."""


@dataclass(frozen=True)
class Site:
    """Settings of the site, which the role writes."""

    gated: tuple[str, ...] = ()
    """Partitions whose nodes the gate guards."""
    reports: str = "/var/lib/drawbridge/reports"
    audit_log: str = ""
    """The API server's audit log on this host; "" if there is none."""
    prometheus: str = ""
    """URL of the site's Prometheus; "": jobs are shown without numbers."""
    prometheus_ca: str = ""
    """File with the CAs of its certificate; "": the host's own."""
    budgets: Mapping[str, str] = field(default_factory=dict)
    """The kind of period of each QOS whose budget begins anew."""


class Seen(NamedTuple):
    """All that one look found. A note says why a part is missing."""

    slurm: Mapping[str, SlurmNode] = {}
    jobs: tuple[Job, ...] = ()
    members: Mapping[str, Member] | None = None
    """None: Kubernetes gave no list."""
    runs: Mapping[str, LastRun] = {}
    proofs: Mapping[str, LastRun] = {}
    """The latest run that proved the node ready for jobs."""
    actors: Mapping[str, tuple[Actor, ...]] = {}
    """Writes of others to Node objects; only of a node that is explained."""
    history: Mapping[str, tuple[Event, ...]] = {}
    """What happened to its health; only of a node that is explained."""
    notes: tuple[str, ...] = ()
    blind: bool = False
    """A part that should answer did not."""


class Node(NamedTuple):
    """A node with all that is known of it."""

    name: str
    slurm: SlurmNode | None
    jobs: tuple[Job, ...] = ()
    gated_partitions: tuple[str, ...] = ()
    """Those of its partitions that the gate guards."""
    member: Member | None = None
    kube_known: bool = False
    run: LastRun | None = None
    proof: LastRun | None = None
    writes: tuple[Actor, ...] = ()
    history: tuple[Event, ...] = ()

    @property
    def actors(self) -> tuple[Actor, ...]:
        """Who else drains, cordons, taints or edits it. Reasons of Drawbridge's begin with its name."""
        slurm = self.slurm
        if slurm and slurm.drained and slurm.by and not slurm.reason.startswith("drawbridge"):
            now = Actor(f"drain in Slurm ({slurm.reason})", slurm.by, slurm.since)
            return (now, *(write for write in self.writes if write != now))
        return self.writes

    @property
    def gated(self) -> bool:
        """Whether the gate must guard it."""
        return bool(self.gated_partitions)

    @property
    def gate(self) -> str:
        """The gate's state as one word."""
        if self.member:
            return self.member.gate
        return ("absent" if self.kube_known else "unknown") if self.gated else "-"

    @property
    def proved_empty(self) -> str:
        """When the gate last proved it empty; "" if it is not closed, or was born closed."""
        return self.member.moved if self.member and self.gate == "closed" else ""

    @property
    def owner(self) -> Job | None:
        """The live job that the taint names, if it has this node."""
        number = self.member.owner if self.member else ""
        return next((job for job in self.jobs if number and job.number == number), None)


class Finding(NamedTuple):
    """One sentence about a node, and the next step; no step means that a person need not act."""

    level: int
    word: str
    cause: str
    step: str = ""
