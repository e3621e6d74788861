# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A job whose nodes were never opened must not start: its pods could not, and its script would wait for them.

Slurm 25.11.7 and 26.05 end a running PrologSlurmctld when slurmctld stops in order, count it as a success and never
run it again. 24.11 starts a job beside its PrologSlurmctld when a primary slurmctld returns. So the Prolog of each node
looks itself, and the timer of the controller ends jobs that no Prolog saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from . import identity
from .api import METADATA, Api, Unreachable
from .config import Job, Refused
from .gate_names import JOB_LABEL
from .nodes import taint
from .slurm import JobInfo, NoAnswer, Running
from .states import Owner, owner
from .world import NODE, World

Found = TypeVar("Found", bound=object)
LOOK_S = 2.0
OPEN_S = 20.0
"""A job that Slurm calls running may be so much younger than its nodes' states."""
BEFORE = "gated"
"""Note of the controller: the partitions that it has seen gated, and jobs that ran there before."""


class Unopened(Exception):
    """The job has no node here to run on; the message says why. The node itself is in order."""


class Open(NamedTuple):
    """The API server's last client, and the user's other groups."""

    api: Api
    groups: str


def require_open(job: Job, world: World) -> Open:
    """On a node: return once it is held for this job, whose identity is complete. Raises Unopened.

    As long as Slurm runs the opener, or does not answer, wait for it.
    """
    return _patiently(lambda: _look(job, world), job.owner.job, world)


def namespace_here(number: int, world: World) -> str:
    """On a node: the namespace in which the job opened it. Raises Unopened.

    Only the controller knows the namespaces of projects, so that a new project needs no visit of nodes.
    """
    return _patiently(lambda: _holder(number, world), number, world).namespace


def _patiently(look: Callable[[], Found | str], number: int, world: World) -> Found:
    """What the look finds, once it finds it. A text is why it does not. Raises Unopened."""
    starting, running = world.deadline(world.config.patience_s + OPEN_S), None
    while isinstance(found := look(), str):
        limit, info = starting, _seen(number, world)
        if info and not _runs(info, world):
            raise Unopened(found)
        if info and info.state != "CONFIGURING":
            limit = running = running or world.deadline(OPEN_S)
        if not limit.pause(LOOK_S):
            raise Unopened(found)
    return found


def _holder(number: int, world: World) -> Owner | str:
    """The job as this node's holder, or why it is not."""
    node = world.env["SLURMD_NODENAME"]
    try:
        value = taint(node, world.api(NODE, OPEN_S))
    except (Refused, Unreachable) as err:
        return f"node {node} can't tell whether it was opened for it ({err})"
    holder = owner(value)
    if holder and holder.job == number and value == holder.held:
        return holder
    return f"node {node} was not opened for it ({value or 'no taint'})"


def _look(job: Job, world: World) -> Open | str:
    """The open node, or why the job can't run here. Of its identity, the binding to run is created last."""
    node, api = world.env["SLURMD_NODENAME"], world.api(NODE, OPEN_S)
    try:
        value = taint(node, api)
        if value != job.owner.held:
            return f"node {node} was not opened for it ({value or 'no taint'})"
        binding = identity.path(job.owner.namespace, "rolebindings", job.account + identity.RUN)
        found = api.get(binding)
    except (Refused, Unreachable) as err:
        return f"node {node} can't tell whether it was opened for it ({err})"
    return Open(api, identity.groups(found.body)) if found.ok else f"its rights are incomplete ({found.message})"


def _seen(job: int, world: World) -> JobInfo | None:
    try:
        return world.slurm.job(job)
    except NoAnswer:
        return None


def leave(job: int, cause: str, world: World) -> None:
    """On a node: end this run of the job, if no other node did so, and wait until Slurm has. Raises Refused.

    Slurm tells each node to end the job. After that its batch script does not start, though the Prolog succeeds.
    """
    deadline, told = world.deadline(world.config.patience_s), False
    while not (info := _seen(job, world)) or _runs(info, world):
        if info and not told:
            told = _told(job, info, cause, world)
        if not deadline.pause(LOOK_S):
            raise Refused(f"job {job} can't be ended: {cause}")
    world.clock.sleep(LOOK_S)


def _told(job: int, info: JobInfo, cause: str, world: World) -> bool:
    """Whether Slurm has accepted that the job ends; another host may have been quicker."""
    try:
        end_run(job, info, cause, world)
    except NoAnswer as err:
        world.log.event("no answer from Slurm", job=job, cause=str(err))
        return False
    return True


def _runs(info: JobInfo, world: World) -> bool:
    """Whether this run goes on here. A slurmctld that was killed may give the number to another job."""
    env = world.env
    this = (int(env["SLURM_JOB_UID"]), int(env.get("SLURM_JOB_RESTART_COUNT") or 0), env["SLURM_JOB_PARTITION"])
    mine = (info.uid, info.restarts, info.partition) == this
    return info.running and mine and env["SLURMD_NODENAME"] in info.nodes


def end_run(job: int, info: JobInfo, cause: str, world: World) -> None:
    """Requeue the job, or cancel it if it can't be requeued; its comment says why. Raises NoAnswer."""
    world.log.event("run again", job=job, cause=cause)
    world.comment_job(job, cause)
    world.slurm.end_run(job, info)


def end_unopened(world: World, api: Api) -> bool:
    """On the controller: end jobs that run although no opener finished for them. False if Slurm refused to end one.

    A job that Slurm still configures has its opener. Raises NoAnswer, Refused, Unreachable.
    """
    running = world.slurm.running(world.config.partitions)
    older = _older(running, world)
    return all([_end_if_unopened(number, world, api) for number in sorted(set(running) - older)])


def _older(running: Mapping[int, Running], world: World) -> set[int]:
    """Jobs that ran when this program first saw their partition: perhaps no opener ran for them."""
    note = world.notes.read(BEFORE)
    known, partitions = set(note.get("jobs", ())), sorted(world.config.partitions)
    jobs = known & set(running)
    if new := sorted(set(partitions) - set(note.get("partitions", ()))):
        jobs |= set(world.slurm.running(new))
    now = {"partitions": partitions, "jobs": sorted(jobs)}
    if now != note:
        world.notes.write(BEFORE, now)
    return jobs


def _end_if_unopened(number: int, world: World, api: Api) -> bool:
    """End the job if no opener is at work and none has finished. False if Slurm refused."""
    if world.notes.read(f"run-{number}").get("opened"):
        return True
    with world.notes.locked(number, wait=False) as free:
        if not free or world.notes.read(f"run-{number}").get("opened"):
            return True
        info = world.slurm.job(number)
        if info.state == "RUNNING" and info.partition in world.config.partitions and not _may_run(number, world, api):
            return _told(number, info, "its nodes were never opened: PrologSlurmctld did not finish", world)
    return True


def _may_run(number: int, world: World, api: Api) -> bool:
    """Whether an identity with this number is complete, as after the loss of this controller's notes."""
    for space in world.config.spaces:
        path = identity.path(space, "rolebindings")
        for item in api.items(path, METADATA, labelSelector=f"{JOB_LABEL}={number}"):
            holder, name = identity.owner(space, item["metadata"]["name"]), item["metadata"]["name"]
            if holder and holder.job == number and name.endswith(identity.RUN):
                return True
    return False
