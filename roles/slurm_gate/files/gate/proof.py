# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Is this host empty? What Kubernetes believes is one half of the proof; this is the other, seen on the host itself."""

from __future__ import annotations

from .config import Refused
from .host import obstacle
from .slurm import NoAnswer
from .world import World

LOOK_S = 1.0


def local_obstacle(world: World, over: int = 0) -> str:
    """Why the host is not empty of pods of jobs and of processes on GPUs; "" if it is.

    Processes of Slurm's own jobs may use GPUs, but not those of job `over`, which has ended. Slurm is asked after the
    GPUs: whatever started in between is not in the older answer.
    """
    try:
        containers = world.host.containers(world.config.spaces)
        on_gpus = world.host.gpu_processes() if int(world.config.pod_limits.get("gpus", "0")) else {}
        jobs = world.slurm.pids() if on_gpus else {}
    except (Refused, NoAnswer) as err:
        return str(err)
    allowed = [pid for pid, job in jobs.items() if job != over]
    return obstacle(containers, on_gpus, [*allowed, *world.host.daemons(on_gpus, world.config.gpu_daemons)])


def require_empty(world: World, patience_s: float) -> None:
    """Before a job of another partition starts here. What is just ending gets a moment. Raises Refused."""
    deadline = world.deadline(patience_s)
    while why := local_obstacle(world):
        if not deadline.pause(LOOK_S):
            raise Refused(f"this node is not empty: {why}", {world.env["SLURMD_NODENAME"]: why})
