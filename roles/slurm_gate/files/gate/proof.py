# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Proof that this host is empty, read on the host itself; `closer` adds what the API server shows."""

from __future__ import annotations

from collections.abc import Callable

from . import tokens
from .config import Job, Refused
from .host import obstacle
from .slurm import NoAnswer
from .world import World

LOOK_S = 1.0


def local_obstacle(world: World, over: int = 0) -> str:
    """Why the host is not empty: a non-infrastructure pod, or a process on a GPU; "" if it is empty.

    Processes of Slurm jobs may use GPUs, except those of job `over`, which has ended. The gate reads GPUs first and
    Slurm second, so that Slurm knows all processes that were found.
    """
    infra = world.config.infra_namespaces
    try:
        containers = world.host.containers(infra)
        on_gpus = world.host.gpu_processes() if int(world.config.pod_limits.get("gpus", "0")) else {}
        jobs = world.slurm.pids() if on_gpus else {}
        allowed = {pid for pid, job in jobs.items() if job != over}
        allowed |= {*world.host.daemons(on_gpus, world.config.gpu_daemons)}
        if left := [pid for pid in on_gpus if pid not in allowed]:
            allowed |= {*world.host.infra_processes(left, infra)}
    except (Refused, NoAnswer) as err:
        return str(err)
    return obstacle(containers, on_gpus, allowed)


def require_empty(world: World, patience_s: float) -> None:
    """Before a job of a non-gated partition starts here. Ending processes get `patience_s`. Raises Refused."""
    _require(world, patience_s, lambda: tokens.leftover(world) or local_obstacle(world))


def require_alone(job: Job, world: World, patience_s: float) -> None:
    """Before a gated job starts here: no pods but its own, no directory of another job. Raises Refused."""

    def why() -> str:
        own = (job.owner.namespace, job.owner.prefix)
        try:
            containers = world.host.containers(world.config.infra_namespaces, own)
        except Refused as err:
            return str(err)
        return tokens.leftover(world, job.owner.job) or obstacle(containers, {}, ())

    _require(world, patience_s, why)


def _require(world: World, patience_s: float, look: Callable[[], str]) -> None:
    deadline = world.deadline(patience_s)
    while why := look():
        if not deadline.pause(LOOK_S):
            raise Refused(f"this node is not empty: {why}", {world.env["SLURMD_NODENAME"]: why})
