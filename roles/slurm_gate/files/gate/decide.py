# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the reconcilers decide, as pure functions of what they saw. What they could not see is no argument here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from . import identity
from .gate_names import CLOSED, DIRTY, TAINT
from .slurm import JobInfo, NodeInfo, Running
from .states import Owner, owner

LEAVE, CLOSE, LOST, STUCK, HALTED = "leave", "close", "lost", "stuck", "halted"
OPEN, FOREIGN = "open", "foreign"


class Seen(NamedTuple):
    """A node's taint, the job in it as Slurm has it, and whether the host was booted since the gate last ran here."""

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
    """What to do about a node that a job holds, or left dirty.

    LOST: the job's part on this host ended with the last boot, and Slurm does not notice. STUCK: looks so, and has to
    be looked at again. HALTED: suspended, which Slurm does to its own processes alone. A job that shrank has left the
    node, though it runs elsewhere.
    """
    if not seen.job.has(seen.node):
        return CLOSE
    if not seen.job.running:
        return LEAVE  # its epilog is to come
    if seen.job.state == "CONFIGURING":
        # the job's next run, whose opener waits for what the last one left
        return CLOSE if state(seen.value) == "dirty" else LEAVE
    if seen.rebooted:
        return LOST
    if seen.job.state in ("SUSPENDED", "STOPPED"):
        return HALTED
    batch_host = seen.job.batch and seen.job.batch_host == seen.node
    return STUCK if batch_host and seen.job.state == "RUNNING" and seen.job.age_s > stuck_s else LEAVE


def back(info: NodeInfo, value: str, unfinished: bool, lately: bool = False) -> bool:
    """A closed node that we drained, or that Slurm had lost or mixed up, may come back once it is proven empty.

    `unfinished`: a script of ours failed here, so that a drain with Slurm's own words is ours, too. `lately`: a prolog
    that failed without a word was forgiven already; a node where they fail again and again would eat jobs.
    """
    ours = info.drained_by_us or (unfinished and info.drained_by_slurm)
    slurms = info.lost or info.drained_for_twins or (info.drained_untold and not lately)
    return value == CLOSED and (ours or slurms)


def open_reason() -> str:
    """Why a node without our taint is kept from jobs."""
    return (
        f"has no taint {TAINT}, so anybody's pods may be here: look, then close it as a member of drawbridge:platform"
    )


class Sighting(NamedTuple):
    """What a job has in Kubernetes: names of its identity, nodes it was given, nodes that are held for it."""

    owner: Owner
    accounts: tuple[str, ...]
    given: frozenset[str]
    held: tuple[str, ...]


def jobs_to_end(sightings: Iterable[Sighting], running: Mapping[int, Running]) -> list[tuple[Sighting, str]]:
    """Jobs whose Kubernetes side has to end, with the cause. One whose number has another user now is over.

    A node that left a living job can't be proven empty while the job may still make pods.
    """
    found = []
    for sighting in sightings:
        job = running.get(sighting.owner.job)
        if job is None or any(identity.uid(account) != job.uid for account in sighting.accounts):
            found.append((sighting, "the job is over"))
        elif job.nodes and (left := sorted((sighting.given | set(sighting.held)) - set(job.nodes))):
            found.append((sighting, f"node {left[0]} has left the job"))
    return found
