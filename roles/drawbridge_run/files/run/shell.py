# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A shell in a pod of the user's own job: in a running pod, or in a new one."""

from __future__ import annotations

from ..gate.config import Refused
from ..gate.gate_names import JOB_LABEL
from ..gate.states import PODS
from . import pods
from .allocation import Allocation
from .context import Context
from .options import Options
from .pod import START
from .pod_set import PodSet
from .site import Grant
from .terminal import Session

IDLE = ("/bin/sh", "-c", "trap" + " 'exit 0' TERM; while :; do sleep 3600 & wait; done")
SHELL = ("/bin/sh", "-c", "command -v bash >/dev/null && exec bash -l; exec sh -l")


def enter(given: Grant, allocation: Allocation, options: Options, context: Context) -> int:
    """Open a shell in a running pod. Raises Refused, Unreachable."""
    pod_set = PodSet(allocation.nodes, given.memory)
    found = context.kube(given).items(PODS.format(given.namespace), labelSelector=f"{JOB_LABEL}={allocation.job}")
    for item in found.get("items") or []:
        pod_set.note(item)
    return step_in(pod_set, given, options, context)


def step_in(pod_set: PodSet, given: Grant, options: Options, context: Context) -> int:
    """Run a shell, or the given command, in the pod of a rank. Raises Refused, Unreachable."""
    running = {pod.rank: pod for pod in pod_set.pods if pod.state == pods.RUNNING}
    if options.rank not in running:
        ranks = ", ".join(str(rank) for rank in sorted(running)) or "none"
        raise Refused(
            f"no pod of rank {options.rank} runs in this job (running ranks: {ranks}): "
            "choose another with --rank, or name an --image for new ones"
        )
    path = f"{PODS.format(given.namespace)}/{running[options.rank].name}"
    command = options.command or SHELL
    return Session(given, context.clock).run(path, ("/bin/sh", "-c", START, "drawbridge-run", *command))
