# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Decisions of `repair`, as pure functions of what it read from Slurm, Kubernetes and the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from . import identity
from .gate_names import CLOSED, DIRTY, TAINT
from .slurm import JobInfo, NodeInfo, Running
from .states import Owner, owner

LEAVE, CLOSE, LOST, STUCK, HALTED = "leave", "close", "lost", "stuck", "halted"
OPEN, FOREIGN = "open", "foreign"
STATES = (CLOSED, "held", "dirty", OPEN, FOREIGN)
"""What `state` returns."""


class Seen(NamedTuple):
    """A node's taint, the job that it names, and whether the host was booted since the gate last ran here."""

    node: str
    value: str
    job: JobInfo
    rebooted: bool = False


def state(value: str) -> str:
    """A taint's value as one word, for people and metrics."""
    if value in ("", CLOSED):
        return value or OPEN
    if not owner(value):
        return FOREIGN
    return "dirty" if value.startswith(DIRTY) else "held"


def node(seen: Seen, stuck_s: float) -> str:
    """What to do with a held or dirty node.

    LOST: a boot ended the job's part on this host, and Slurm did not notice. STUCK: the batch script seems not to run;
    check again. HALTED: the job is suspended, but Slurm suspends no pods. A job that shrank has left the node.
    """
    if not seen.job.has(seen.node):
        return CLOSE
    if not seen.job.running:
        return LEAVE  # its epilog follows
    if seen.job.state == "CONFIGURING":
        # the next run of the job: its opener waits until the node of the last run is closed
        return CLOSE if state(seen.value) == "dirty" else LEAVE
    if seen.rebooted:
        return LOST
    if seen.job.state in ("SUSPENDED", "STOPPED"):
        return HALTED
    batch_host = seen.job.batch and seen.job.batch_host == seen.node
    return STUCK if batch_host and seen.job.state == "RUNNING" and seen.job.age_s > stuck_s else LEAVE


def may_resume(info: NodeInfo, value: str, unfinished: bool, resumed_lately: bool = False) -> bool:
    """Whether a closed node may return to service once it is proved empty: the gate drained it, or Slurm lost it.

    `unfinished`: the gate's script failed here, so a drain in Slurm's own words is the gate's, too. `resumed_lately`:
    the last hour already excused one unexplained failure; a node whose prologs always fail would consume jobs.
    """
    ours = info.drained_by_us or (unfinished and info.drained_by_slurm)
    slurms = info.lost or info.drained_for_duplicate or (info.drained_unexplained and not resumed_lately)
    return value == CLOSED and (ours or slurms)


def open_reason() -> str:
    """Drain reason of a node without the gate's taint."""
    return (
        f"has no taint {TAINT}, so any tenant's pods may be here: "
        "look, then close it as a member of drawbridge:platform"
    )


class Sighting(NamedTuple):
    """What a job has in Kubernetes: its ServiceAccounts, the nodes that it was given, the nodes that it holds."""

    owner: Owner
    accounts: tuple[str, ...]
    given: frozenset[str]
    held: tuple[str, ...]


def jobs_to_end(sightings: Iterable[Sighting], running: Mapping[int, Running]) -> list[tuple[Sighting, str]]:
    """Jobs whose Kubernetes objects must be deleted, with the cause. A job is over if another user has its number.

    A node that left a running job can't be proved empty while the job may still create pods.
    """
    found = []
    for sighting in sightings:
        job = running.get(sighting.owner.job)
        if job is None or any(identity.uid(account) != job.uid for account in sighting.accounts):
            found.append((sighting, "the job is over"))
        elif job.nodes and (left := sorted((sighting.given | set(sighting.held)) - set(job.nodes))):
            found.append((sighting, f"node {left[0]} has left the job"))
    return found
