# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Repair what prologs and epilogs left undone: each node repairs itself, the controller repairs jobs.

Timers run this, and each node before slurmd starts. Without an answer from Slurm or from the API server nothing
changes. The gate reads Kubernetes first and Slurm second, so Slurm already knows every job that has objects.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from . import decide, identity, scripts, tokens
from .api import METADATA, Api
from .closer import close_job, close_node, make_dirty
from .config import Refused
from .decide import Seen, Sighting
from .gate_names import CLOSED, LABEL
from .nodes import taint
from .proof import local_obstacle
from .slurm import GONE, JobInfo, Running
from .states import Owner, gate_taint, owner
from .unopened import end_run
from .world import World

EMPTY_S = 5.0  # the next run checks again
# Between prolog and batch script nothing runs for a moment. After the script's end, slurmctld has 10 s to answer the
# step's daemon, which reports the end again 15 s later.
LOOK_AGAIN_S = 30.0
POLL_S = 1.0  # an epilog may be waiting for the lock
BOOT, FORGIVEN = "boot", "forgiven"
FORGIVE_S = 3600.0


def repair_node(node: str, value: str, world: World, api: Api) -> None:
    """Move this node, whose taint has `value`, one step towards closed. Raises Refused, NoAnswer, Unreachable."""
    boot = world.notes.read(BOOT)
    if holder := owner(value):
        job = _job(holder.job, world)
        _owned(holder, Seen(node, value, job, _lost(holder, job, boot, world)), world, api)
    elif value == CLOSED:
        _closed(node, value, world)
    elif not value:
        world.slurm.drain(node, decide.open_reason())
    if boot != {"id": world.host.boot_id()}:
        world.notes.write(BOOT, {"id": world.host.boot_id()})


def boot_node(node: str, world: World, api: Api) -> None:
    """Before slurmd starts: make the node dirty if a job held it, because the boot ended the job's pods here.

    A note names the job until the timer has requeued it: a job that starts later has lost nothing.
    """
    if not booted(world):
        return
    value, lost = taint(node, api), ""
    if holder := owner(value):
        lost = holder.held
        if value == lost:
            make_dirty(holder, node, world, api)
    world.notes.write(BOOT, {"id": world.host.boot_id(), "lost": lost})


def booted(world: World) -> bool:
    """Whether this host was booted since the gate's last check of its node; False before the first check."""
    now = world.host.boot_id()
    return bool(world.notes.read(BOOT).get("id", now) != now)


def _lost(holder: Owner, job: JobInfo, boot: Mapping[str, str], world: World) -> bool:
    """Whether the boot ended the job's part on this host: `boot_node` noted it, or the job is older than the boot."""
    unnoted = boot.get("id", world.host.boot_id()) != world.host.boot_id()
    return boot.get("lost") == holder.held or (unnoted and job.age_s > world.host.uptime_s())


def _job(number: int, world: World) -> JobInfo:
    """A job that may hold nodes. A killed slurmctld may have reused its number for a job of another partition."""
    info = world.slurm.job(number)
    return info if info.state == GONE or info.partition in world.config.partitions else JobInfo()


def _owned(holder: Owner, seen: Seen, world: World, api: Api) -> None:
    verdict = decide.node(seen, world.config.stuck_s)
    if verdict == decide.CLOSE:
        close_node(holder, seen.node, world, api, EMPTY_S, moved_on=seen.job.running)
        tokens.forget(holder.job, world)
        _closed(seen.node, CLOSED, world)
    elif verdict == decide.LOST:
        make_dirty(holder, seen.node, world, api)
        end_run(holder.job, seen.job, f"node {seen.node} was booted while the job ran", world)
    elif verdict == decide.HALTED:
        _report_halted(holder.job, world)
    elif verdict == decide.STUCK:
        _requeue_if_stuck(holder.job, seen, f"its batch script never started on {seen.node}", world)


def _requeue_if_stuck(job: int, seen: Seen, cause: str, world: World) -> None:
    if not _without_batch(job, world):
        return
    deadline = world.deadline(LOOK_AGAIN_S)
    while deadline.pause(POLL_S):
        if world.host.script_runs():
            return
    now = _job(job, world)
    if now.restarts == seen.job.restarts and now.state == seen.job.state and _without_batch(job, world):
        end_run(job, now, cause, world)


def _report_halted(job: int, world: World) -> None:
    """Report once that the pods of a suspended job continue; its owner must resume or cancel it."""
    cause = f"suspended, but its pods and their GPUs go on: scontrol resume {job}, or scancel {job}"
    if cause not in world.slurm.comment(job):
        world.log.event("suspended", job=job)
        world.comment_job(job, cause)


def _without_batch(job: int, world: World) -> bool:
    return not world.host.script_runs() and not world.slurm.has_batch_step(job)


def _closed(node: str, value: str, world: World) -> None:
    """Lift the gate's own drain, and the state that Slurm set when it lost the node, once the host is proved empty.

    A node whose class needs a passport also needs a valid one.
    """
    tokens.tidy(node, world)
    info, unfinished = world.slurm.node(node), scripts.unfinished(world)
    if info.busy:
        _requeue_lost_jobs(node, value, world)
    resumed_lately = world.clock.wall() - world.notes.read(FORGIVEN).get("at", 0.0) < FORGIVE_S
    if not decide.may_resume(info, value, unfinished, resumed_lately):
        if unfinished and not info.kept_out:
            scripts.forget(world)
        return
    if why := local_obstacle(world) or world.host.unproved():
        raise Refused(f"node {node} stays out: {why}", {node: why})
    if not decide.may_resume(world.slurm.node(node), value, unfinished, resumed_lately):
        return  # a person drained it during the proof, which may take seconds
    world.log.event("resume", node=node)
    world.slurm.resume(node)
    if info.drained_unexplained and not unfinished:
        world.notes.write(FORGIVEN, {"at": world.clock.wall()})


def _requeue_lost_jobs(node: str, value: str, world: World) -> None:
    """Requeue jobs that Slurm lists as running on this closed node.

    A slurmctld that was killed continues from its last saved state, which may be older than the jobs' end.
    """
    for number in world.slurm.running_on(node, world.config.partitions):
        seen = Seen(node, value, _job(number, world))
        if decide.node(seen, world.config.stuck_s) == decide.STUCK:
            _requeue_if_stuck(number, seen, f"its batch script has left {node}, and Slurm did not notice", world)


def repair_cluster(world: World, api: Api) -> bool:
    """Delete the Kubernetes objects of jobs that are over, or that gave up a node. False if a deletion failed.

    Raises NoAnswer, Refused, Unreachable.
    """
    sightings = sighted(world, api)
    done = True
    running = world.slurm.running(world.config.partitions) if sightings else {}
    for sighting, cause in decide.jobs_to_end(sightings, running):
        try:
            _end(sighting, cause, world, api)
        except Refused as err:
            world.log.event("not repaired", namespace=sighting.owner.namespace, job=sighting.owner.job, cause=str(err))
            done = False
    known = {sighting.owner.job for sighting in sightings}
    for name in world.notes.names("run-"):
        if int(name[4:]) not in known:
            forget_run(int(name[4:]), world)
    return done


def _end(sighting: Sighting, cause: str, world: World, api: Api) -> None:
    """Delete one job's objects, unless its opener is running or has run since the job was read."""
    holder = sighting.owner
    with world.notes.locked(holder.job, wait=False) as free:
        if not free:
            return
        now = _job(holder.job, world)
        if not decide.jobs_to_end([sighting], {holder.job: Running(now.uid, now.nodes)} if now.running else {}):
            return
        world.log.event("end", namespace=holder.namespace, job=holder.job, cause=cause)
        close_job(holder, sighting.accounts, sighting.held, api, world.log)
        if now.running:
            world.comment_job(holder.job, f"{cause}; its pods were ended")


def forget_run(job: int, world: World) -> None:
    """Remove the opener's note of a job without objects in Kubernetes that does not run."""
    with world.notes.locked(job, wait=False) as free:
        if free and not world.slurm.job(job).running:
            world.notes.forget(f"run-{job}")


def sighted(world: World, api: Api) -> list[Sighting]:
    """All jobs that have an identity or hold nodes. Only held nodes have the label."""
    accounts: dict[Owner, set[str]] = {}
    given: dict[Owner, set[str]] = {}
    for space in world.config.spaces:
        for item in api.items(identity.path(space, "serviceaccounts"), METADATA):
            if holder := identity.owner(space, item["metadata"]["name"]):
                accounts.setdefault(holder, set()).add(item["metadata"]["name"])
        for item in api.items(identity.path(space, "rolebindings")):
            if holder := identity.owner(space, item["metadata"]["name"]):
                accounts.setdefault(holder, set()).add(identity.base(item["metadata"]["name"]))
                given.setdefault(holder, set()).update(identity.nodes(item))
    held = _held(given, api)
    return [
        Sighting(it, tuple(sorted(accounts.get(it, ()))), frozenset(given.get(it, ())), tuple(held.get(it, ())))
        for it in sorted({*held, *accounts}, key=lambda holder: (holder.namespace, holder.job))
    ]


def _held(given: Mapping[Owner, Collection[str]], api: Api) -> dict[Owner, list[str]]:
    """Nodes by the job that holds them. If no identity lists a node, its taint names the job."""
    held: dict[Owner, list[str]] = {}
    for item in api.items("/api/v1/nodes", METADATA, labelSelector=LABEL):
        name, job = item["metadata"]["name"], item["metadata"]["labels"][LABEL]
        holders = [it for it, nodes in given.items() if str(it.job) == job and name in nodes]
        holder = holders[0] if len(holders) == 1 else owner(gate_taint(api.get(f"/api/v1/nodes/{name}").body)[1])
        if holder:
            held.setdefault(holder, []).append(name)
    return held
