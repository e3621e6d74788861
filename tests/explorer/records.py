# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What happened, as plain records: from the explorer's model, or from audit log and accounting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

NEVER = float("inf")
EVERYWHERE = ""
GPU_USED = "a process that is no job's uses a GPU"
"""The trouble that keeps a node from being proven empty, and a job without pods from starting there."""
FOREIGN_POD = "a foreign pod runs"
"""Neither a job's nor infrastructure's: it keeps every job from starting there, and the node from being closed."""
MUTE = "a host does not say what runs there"
PERSON = "person"
"""Who writes a Node, or drains one, without being of the gate."""


class Change(NamedTuple):
    """A write of a Node that touched the gate's taint or label, or that a gate's identity made."""

    at: float
    node: str
    before: str
    """The taint's value; "" for none."""
    after: str
    label: str
    """The label's value after the write; "" for none."""
    by: str
    """opener, reconciler, the node's name, or PERSON."""
    guarded: bool = True
    """The policies were in force at some time since the writer began."""
    account: str = ""
    """ServiceAccount of the job that the writer worked for; "" if that isn't known."""
    looked: float = 0.0
    """When the writer last learned what runs on its host, or began."""


class Container(NamedTuple):
    """Processes of a job's pod on a node, from their first to their last moment: also on its GPUs."""

    node: str
    pod: str
    namespace: str
    job: int
    run: int
    start: float
    end: float = NEVER
    account: str = ""
    """The ServiceAccount that it runs as; "" if that isn't known."""


class Pod(NamedTuple):
    """A pod's object that no node was given, from its creation until it is bound or gone."""

    name: str
    namespace: str
    job: int
    start: float
    end: float = NEVER


class Right(NamedTuple):
    """A ServiceAccount or RoleBinding of a job's identity, as long as it was there."""

    namespace: str
    job: int
    account: str
    """What the identity is called, which says whose it is."""
    start: float
    end: float = NEVER


class Prolog(NamedTuple):
    """A node's prolog that let a job begin there."""

    node: str
    job: int
    looked: float
    """When it last learned what runs there, or began."""
    end: float


@dataclass
class Run:
    """One run of a Slurm job, as Slurm has it."""

    job: int
    run: int
    namespace: str
    """"" for a job of a partition without the gate."""
    nodes: tuple[str, ...]
    start: float
    """Its nodes were allocated."""
    runs: float = NEVER
    """Slurm takes its nodes for opened."""
    works: float = NEVER
    """The first of its user's processes started."""
    over: float = NEVER
    gone: float = NEVER
    """Slurm was through with it: EpilogSlurmctld has ended, and so have the nodes' epilogs."""
    left: dict[str, float] = field(default_factory=dict)
    """Nodes that left it before its end, and when."""
    shrank: bool = False
    """It gave up a node, so that its pods were ended on all."""
    shaken: float = NEVER
    """The first time that something took a node from it that it needs, or that Slurm lost it: a boot, a shrinking."""
    ended_by_gate: bool = False
    batch: bool = True
    """An interactive one is for its user to give up: whether it works is not to be seen."""
    account: str = ""
    """What its ServiceAccount is called; "" if that isn't known. Slurm may give a job's number to another's."""

    def has(self, node: str, at: float) -> bool:
        """The node is the run's at this time."""
        return node in self.nodes and self.start <= at < min(self.over, self.left.get(node, NEVER))


class Drain(NamedTuple):
    """A change of what keeps jobs off a node in Slurm: reasons before and after, "" where nothing keeps them off."""

    at: float
    node: str
    before: str
    after: str
    by: str
    """gate, slurm, dispatcher or PERSON."""
    since: float = 0.0
    """When the one before was set."""


class Trouble(NamedTuple):
    """A time in which a node can't be proved empty, or a service does not answer. EVERYWHERE is all nodes."""

    what: str
    node: str
    start: float
    end: float


@dataclass
class History:
    """All of it, and how things stand at the end. Lists are in the order of time."""

    begun: dict[str, str] = field(default_factory=dict)
    """Value of every node's taint at the beginning."""
    changes: list[Change] = field(default_factory=list)
    containers: list[Container] = field(default_factory=list)
    unbound: list[Pod] = field(default_factory=list)
    rights: list[Right] = field(default_factory=list)
    accounts: list[Right] = field(default_factory=list)
    """Those of them that are ServiceAccounts."""
    prologs: list[Prolog] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    drains: list[Drain] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)
    """Lines of the gate's log about itself."""
    left: list[str] = field(default_factory=list)
    """What belongs to a job and is there at the end."""
    end: float = 0.0
