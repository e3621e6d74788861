# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between the gate's time limits and Slurm's."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.faults import Fault
from .model import Slurm

ENDING_S = 20
"""Time of the kubelet beyond a pod's grace, and of the second look of the proof."""
START_S = 30
"""Time that an epilog needs before and after its waits."""


def _gated(slurm: Slurm) -> bool:
    return any(partition.gate for partition in slurm.partitions)


def epilog_outlasts_the_pods(slurm: Slurm) -> Iterator[Fault]:
    """An epilog that gives up before the pods' grace is over drains a healthy node after every job."""
    gate = slurm.gate
    needed = gate.pod_grace_s + ENDING_S
    if _gated(slurm) and gate.empty_s < needed:
        yield Fault(
            "drawbridge_slurm.gate.empty_s",
            gate.empty_s,
            f"pods may need drawbridge_slurm.gate.pod_grace_s ({gate.pod_grace_s}) and their kubelet {ENDING_S} s more",
            f"set empty_s: {needed}, or a shorter pod_grace_s",
        )


def dispatcher_outlasts_the_epilog(slurm: Slurm) -> Iterator[Fault]:
    """A killed part can't set its drain reason, and nothing lifts a drain with Slurm's own reason."""
    gate = slurm.gate
    needed = gate.patience_s + gate.empty_s + START_S
    if _gated(slurm) and slurm.part_timeout_s < needed:
        yield Fault(
            "drawbridge_slurm.part_timeout_s",
            slurm.part_timeout_s,
            f"the gate's epilog may wait patience_s ({gate.patience_s}) and empty_s ({gate.empty_s}) of "
            f"drawbridge_slurm.gate, and would be killed before it can set a drain reason",
            f"set part_timeout_s: {needed}, or shorter waits",
        )


def jobs_outlast_their_pods(slurm: Slurm) -> Iterator[Fault]:
    """A batch script ends its pods at SIGTERM and must still run when they have ended."""
    if _gated(slurm) and slurm.kill_wait_s < slurm.gate.pod_grace_s:
        yield Fault(
            "drawbridge_slurm.kill_wait_s",
            slurm.kill_wait_s,
            f"at its time limit a job would be killed before its pods' grace is over "
            f"(drawbridge_slurm.gate.pod_grace_s, {slurm.gate.pod_grace_s})",
            f"set kill_wait_s: {slurm.gate.pod_grace_s}, or a shorter pod_grace_s",
        )


RULES = (
    epilog_outlasts_the_pods,
    dispatcher_outlasts_the_epilog,
    jobs_outlast_their_pods,
)
