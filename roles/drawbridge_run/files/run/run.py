# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One call: read the job, wait for the files that the gate writes, make the manifest, launch it."""

from __future__ import annotations

import json
import signal
import socket
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from ..gate.config import Refused
from .alike import require_alike
from .allocation import Allocation
from .context import Context
from .kinds import KINDS
from .launch import Launch
from .limits import Limit
from .options import Options
from .pod import Request, User
from .pods import Trouble
from .shell import IDLE, enter, step_in
from .signals import PASSED_ON, SignalSender
from .site import Grant, Site, nccl
from .watcher import END_REQUESTED, SIGNAL, Update

TOKEN_S = 120.0  # if a prolog failed, the node's timer delivers the token
LOOK_S = 0.5
LATE = (
    f"job {{job}} got no token within {TOKEN_S:.0f} s: the API server of Kubernetes does not answer its nodes; "
    "call drawbridge-run doctor"
)
SIGNALS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "Slurm ends this job (scancel, preemption, requeue or its time limit)",
}


def run(options: Options, context: Context) -> int:
    """Run or print a workload, or open a shell; returns the exit code. Raises Refused, Unreachable."""
    site = Site.read(context.site)
    if context.user.uid == 0:
        raise Refused("root can't have pods: call drawbridge-run as the job's user")
    allocation = Allocation.of(context.env, site)
    given = wait_for_grant(allocation, context)
    if options.shell and not options.image:
        return enter(given, allocation, options, context)
    shell = partial(step_in, given=given, options=options, context=context) if options.shell else None
    if options.shell:
        options = replace(options, command=IDLE, name="shell")
    request = make(options, allocation, with_project(site, given, context), given, context)
    objects = KINDS[options.backend].make(request)
    if options.dry_run:
        context.console.print(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=2))
        return 0
    limit = Limit(allocation.job, options.grace_s, context.commands, context.clock.now())
    queue: SimpleQueue[Update] = SimpleQueue()
    listen(queue, options.grace_s)
    signal_sender = SignalSender(given, context.clock, context.console)
    launch = Launch(request, context.kube(given), context.console, context.clock, limit, signal_sender, queue, shell)
    return launch.run(objects)


def with_project(site: Site, given: Grant, context: Context) -> Site:
    """The site with what pods of the job's project see, which its namespace says. Raises Refused, Unreachable."""
    if given.namespace in site.mounts:
        return site
    answer = context.kube(given).call("GET", f"/api/v1/namespaces/{given.namespace}")
    if not answer.ok:
        raise Refused(f"namespace {given.namespace} can't be read ({answer.message}): call the administrators")
    return site.with_project(given.namespace, answer.body["metadata"].get("annotations") or {})


def make(options: Options, allocation: Allocation, site: Site, given: Grant, context: Context) -> Request:
    """All input of the manifest. Raises Refused."""
    if site.unlike_nodes and len(allocation.nodes) > 1:
        require_alike(context.env["SLURM_JOB_NODELIST"], context.commands)
    master = context.address(allocation.nodes, given)
    return Request(context.mark(), allocation, given, site, options, context.user, nccl(context.nccl), master)


def wait_for_grant(allocation: Allocation, context: Context) -> Grant:
    """The files that the gate wrote for the job. A token proves that all nodes are held: its account is made last."""
    home, end = context.jobs / str(allocation.job), context.clock.now() + TOKEN_S
    while True:
        try:
            found = Grant.read(home)
            _require_own(found, context.user, allocation.job)
            found.token.read_text()
            return found
        except PermissionError as err:
            raise Refused(f"job {allocation.job} is another user's: its token is not for you") from err
        except FileNotFoundError as err:
            _require_node(home, allocation)
            if context.clock.now() >= end:
                raise Refused(LATE.format(job=allocation.job)) from err
            context.console.progress("waiting for the job's token, which the gate delivers to its nodes")
            context.clock.sleep(LOOK_S)


def _require_own(found: Grant, user: User, job: int) -> None:
    if found.ids != (user.uid, user.gid):
        raise Refused(
            f"job {job} and its pods run as uid {found.ids[0]} with group {found.ids[1]}, but "
            f"you are uid {user.uid} with group {user.gid}. Call it as the job's user, without newgrp"
        )


def _require_node(home: Path, allocation: Allocation) -> None:
    """The gate writes its files on the job's nodes alone. Raises Refused elsewhere."""
    if not home.is_dir() and socket.gethostname().partition(".")[0] not in allocation.nodes:
        first = allocation.nodes[0] if allocation.nodes else "one of them"
        raise Refused(
            f"this host is not a node of the job: call it on {first}, such as with "
            f"srun --jobid={allocation.job} --overlap --nodes=1 --ntasks=1 --pty drawbridge-run ..."
        )


def listen(queue: SimpleQueue[Update], grace_s: int) -> None:
    """Queue signals as updates. A second interrupt ends the program at once; the gate then ends the pods."""

    def on_signal(number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        text = f"{SIGNALS[signal.Signals(number)]}: the pods get SIGTERM and have {grace_s} s at most"
        queue.put(Update(END_REQUESTED, Trouble(text, 128 + number)))

    for number in SIGNALS:
        signal.signal(number, on_signal)
    for number in PASSED_ON:
        signal.signal(number, lambda number, _: queue.put(Update(SIGNAL, number)))
