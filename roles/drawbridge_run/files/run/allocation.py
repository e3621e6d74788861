# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The job's allocation, from the environment of its batch script or shell. Pure.

Nothing here is trusted: the gate's policies decide what a pod may be. It is read so that counts agree with Slurm's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..gate.config import Refused
from ..gate.hostlist import expand
from .site import Site

PASSED_ON = ("SLURM_JOB_NAME", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT")
OUTSIDE = (
    "this is no Slurm job: put the line into a batch script (sbatch), or get nodes first, such as with "
    "salloc --partition={partition} --nodes=1"
)


@dataclass(frozen=True)
class Allocation:
    """One run of a job: its nodes in Slurm's order, which is the order of the ranks."""

    job: int
    restart: int
    nodes: tuple[str, ...]
    tasks_per_node: int
    """0: the job requested no tasks; then one for each GPU."""
    variables: Mapping[str, str]
    """Variables of the job for its pods."""

    @property
    def prefix(self) -> str:
        """Prefix of the names of this run's workloads."""
        return f"slurm-{self.job}-r{self.restart}-"

    @classmethod
    def of(cls, env: Mapping[str, str], site: Site) -> Allocation:
        """Read the environment. Raises Refused if the job can't have pods."""
        partitions = ", ".join(site.partitions)
        if not env.get("SLURM_JOB_ID", "").isdigit():
            raise Refused(OUTSIDE.format(partition=site.partitions[0] if site.partitions else "PARTITION"))
        if env.get("SLURM_JOB_PARTITION") not in site.partitions:
            raise Refused(
                f"jobs of partition {env.get('SLURM_JOB_PARTITION')} get no nodes in Kubernetes; "
                f"submit to one of these: {partitions}"
            )
        if env.get("SLURM_HET_SIZE"):
            raise Refused("heterogeneous jobs can't have pods: each part has a job id of its own; submit one job")
        if int(env.get("SLURM_STEP_NUM_TASKS") or 1) > 1:
            raise Refused("srun started this once for each task, but one makes all pods: leave srun away")
        nodes = tuple(expand(env.get("SLURM_JOB_NODELIST", "")))
        _require_one_build(env)
        restart = int(env.get("SLURM_RESTART_COUNT") or 0)
        told = {"SLURM_JOB_ID": env["SLURM_JOB_ID"], "SLURM_RESTART_COUNT": str(restart)}
        told.update({key: env[key] for key in PASSED_ON if key in env})
        return cls(int(env["SLURM_JOB_ID"]), restart, nodes, _tasks_per_node(env, len(nodes)), told)


def _require_one_build(env: Mapping[str, str]) -> None:
    """Refuse nodes of different sizes: all pods have one template."""
    cpus = env.get("SLURM_JOB_CPUS_PER_NODE", "")
    if "," in cpus:
        raise Refused(
            f"the job's nodes are of different builds ({cpus} CPUs), but its pods are all alike: "
            "choose one build with --constraint"
        )


def _tasks_per_node(env: Mapping[str, str], nodes: int) -> int:
    """Processes of a node, if the job requested several; launchers such as torchrun request one task a node."""
    tasks = int(env.get("SLURM_NTASKS") or 0)
    if tasks % max(nodes, 1):
        raise Refused(f"{tasks} tasks can't be shared evenly by {nodes} nodes: ask with --ntasks-per-node")
    each = tasks // max(nodes, 1)
    return each if each > 1 else 0
