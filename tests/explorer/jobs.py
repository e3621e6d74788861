# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs and nodes as slurmctld and the slurmds have them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .hosts import Box, Process
from .plan import JobSpec
from .records import NEVER, Run

ALIVE = ("CONFIGURING", "RUNNING", "SUSPENDED")


@dataclass(eq=False)
class Job:
    """A job as slurmctld has it."""

    spec: JobSpec
    number: int
    state: str = "PENDING"
    nodes: tuple[str, ...] = ()
    restarts: int = 0
    begin: float = 0.0
    started: int = 0
    comment: str = ""
    held: bool = False
    after: str = ""
    """What it becomes when its nodes have finished."""
    generation: int = 0
    """Grows with every start and end, so that late messages of an earlier run are ignored."""
    ready: set[str] = field(default_factory=set)
    closing: set[str] = field(default_factory=set)
    ending: bool = False
    """EpilogSlurmctld is at work."""
    opener: Process | None = None
    run: Run | None = None

    @property
    def gated(self) -> bool:
        return self.spec.partition == "ai-train"

    @property
    def array(self) -> int:
        """The number that its array goes by; a job of none has only its own."""
        return self.number - self.spec.task + self.spec.tasks

    @property
    def again(self) -> bool:
        """Slurm may run it again."""
        return self.spec.batch and self.spec.requeue

    def opened(self, now: float) -> None:
        """Slurm takes its nodes for opened."""
        self.state = "RUNNING"
        if self.run:
            self.run.runs = now


@dataclass(eq=False)
class Node:
    """A node as slurmctld has it, and its slurmd."""

    box: Box
    job: int = 0
    drained: bool = False
    down: bool = False
    reason: str = ""
    since: float = 0.0
    slurmd: bool = True
    life: int = 0
    """Grows whenever slurmd dies: its scripts' results are lost."""
    silent: float = NEVER
    jobs: dict[int, tuple[int, Mapping[str, str]]] = field(default_factory=dict)
    """What slurmd has: the life in which it was given a job, and the scripts' environment."""
    prologs: set[int] = field(default_factory=set)
    script_faults: dict[str, Callable[[], None]] = field(default_factory=dict)
    """What befalls it while the next script of a kind is at work."""

    @property
    def reason_now(self) -> str:
        """What keeps jobs off the node; "" if nothing does. What a lost node's reason was before does not."""
        return self.reason if self.drained else self.reason.rpartition(" : ")[2] if self.down else ""


def environment(job: Job, name: str = "") -> Mapping[str, str]:
    """What Slurm gives a script of a job: of its controller, or of the node with this name."""
    spec = job.spec
    env = {
        "SLURM_JOB_ID": str(job.number),
        "SLURM_JOB_PARTITION": spec.partition,
        "SLURM_JOB_ACCOUNT": spec.account,
        "SLURM_JOB_UID": str(spec.uid),
        "SLURM_JOB_GID": str(spec.uid),
        "SLURM_JOB_NODELIST": ",".join(job.nodes),
        "SLURM_JOB_OVERSUBSCRIBE": "NO",
        "SLURM_JOB_START_TIME": str(job.started),
        "SLURM_JOB_RESTART_COUNT": str(job.restarts),
    }
    return {**env, "SLURMD_NODENAME": name} if name else env


def token_of(job: Job, box: Box) -> str:
    """What the job's user can read of its token."""
    text, _, uid = box.files.get(f"/jobs/{job.number}/token", ("", 0.0, 0))
    return text if uid == job.spec.uid else ""


def user_gone(node: Node, job: Job) -> None:
    """What the job's user ran there ends."""
    node.box.steps.pop(job.number, None)
    node.box.gpus.pop(500_000 + job.number, None)


def poor(env: Mapping[str, str], rng: random.Random) -> Mapping[str, str]:
    """What a slurmd that was not there before knows of a job."""
    missing = ["SLURM_JOB_NODELIST"]
    if rng.random() < 0.3:
        missing += ["SLURM_JOB_ACCOUNT", "SLURM_JOB_START_TIME"]
    return {key: value for key, value in env.items() if key not in missing}
