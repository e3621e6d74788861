# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A job ends while its pods are being made: the scheduler binds some of them to a node that no job holds any more.

The API server looks at no taint when it binds. The order in which the gate ends a job keeps such pods from running.
So does the kubelet: it refuses a pod whose selector its node's label no longer meets.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from kubernetes import client
from kubernetes.client import ApiException

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.gate_names import CLOSED, JOB_LABEL, LABEL, TAINT
from roles.slurm_gate.files.gate.states import Owner
from tests import stack
from tests.explorer.invariants import (
    closed_means_empty,
    nothing_comes_after_closed,
    only_allowed_edges,
    pods_run_where_their_job_is,
)
from tests.explorer.records import History
from tests.races import audit

SPACE, USER, UID, GID = "vision", "ada", 2001, 3001
WORKLOADS, PODS = 12, 2
"""Made until the job may no more."""
SPREAD_S, SLOW, FAR_S = 0.15, 5, 0.6
"""Seconds between two of them: the other side of the race ends in less than one; on a busy machine it takes longer."""
REFUSED = "NodeAffinity"
"""The kubelet's reason."""
HEARD_S = 5.0
"""A kubelet learns of its Node and of its pods from two watches: for so long it may go by what the Node was before."""


class Outcome(NamedTuple):
    """What came of some rounds."""

    bound: int
    late: int
    refused: int
    unheard: int
    """Bound so soon after their node's end that the kubelet had not seen it; ended before the node was closed."""
    wrong: list[str]


def race(rounds: int, seed: int = 1) -> Outcome:
    """Rounds on all nodes at once; everything is judged from the API server's own audit."""
    begin, known = time.time(), stack.audited()
    shares = [range(number, rounds, len(stack.NODES)) for number in range(len(stack.NODES))]
    with ThreadPoolExecutor(len(stack.NODES)) as pool:
        for done in [pool.submit(_rounds, node, share, seed) for node, share in zip(stack.NODES, shares, strict=True)]:
            done.result()
    return outcome(list(audit.writes(stack.audit(known))), time.time() - begin)


def outcome(entries: Sequence[audit.Json], end: float) -> Outcome:
    """What the API server's records say of it. Pure."""
    changes = audit.changes(entries, stack.NODES)
    late = audit.bound_late(entries, changes)
    history = History(
        begun=dict.fromkeys(stack.NODES, CLOSED),
        changes=changes,
        containers=audit.containers(entries),
        unbound=audit.unbound(entries),
        accounts=audit.accounts(entries),
        end=end,
    )
    checks = (pods_run_where_their_job_is, closed_means_empty, nothing_comes_after_closed, only_allowed_edges)
    wrong = [text for check in checks for text in check(history)]
    ran = {it.pod: late[f"{it.namespace}/{it.pod}"] for it in history.containers if f"{it.namespace}/{it.pod}" in late}
    wrong += [f"{pod} was bound {lag:.1f} s late and ran" for pod, lag in ran.items() if lag > HEARD_S]
    refused = {audit.name_of(it) for it in audit.about(entries, "pods") if audit.reason(it) == REFUSED}
    unheard = sum(lag <= HEARD_S for lag in ran.values())
    return Outcome(len(audit.bindings(entries)), len(late), len(refused), unheard, wrong)


def _rounds(node: str, share: Iterable[int], seed: int) -> None:
    for number in share:
        dice = random.Random(f"{seed}-{number}")
        job = stack.quiet(f"-N1 -w {node} --no-requeue", "#!/bin/sh\nsleep 600\n", USER)
        stack.until(lambda job=job: stack.job_state(job) == "RUNNING", 180, f"job {job} runs")
        account = identity.name(int(job), UID, GID)
        api = client.BatchV1Api(stack.api_client(f"system:serviceaccount:{SPACE}:{account}", "system:serviceaccounts"))
        with ThreadPoolExecutor(1) as pool:
            cancelled = pool.submit(_cancel, job)
            for part in range(WORKLOADS):
                if part == SLOW:  # however late Slurm is, the others race against the job's end
                    stack.until(lambda job=job: stack.job_state(job) != "RUNNING", 180, f"job {job} ends")
                else:
                    time.sleep(dice.uniform(0, 2 * (SPREAD_S if part < SLOW else FAR_S)))
                if not _made(api, workload(Owner(SPACE, int(job)), account, part)):
                    break
            cancelled.result()
        stack.until(
            lambda job=job: stack.job_state(job) in stack.OVER and stack.state(node) == CLOSED,
            180,
            f"{node} is closed after {job}",
        )


def _cancel(job: str) -> None:
    """Until Slurm has taken it; one that is over already is refused."""
    stack.until(
        lambda: stack.job_state(job) in stack.OVER or not stack.ssh("ctl", f"scancel {job}"),
        180,
        f"job {job} is cancelled",
    )


def _made(api: Any, body: audit.Json) -> bool:
    """Whether the job still had the right to. A server that fails, without its etcd, may have made it all the same."""
    tries = itertools.count()

    def answer() -> int:
        next(tries)
        try:
            api.create_namespaced_job(SPACE, body)
        except ApiException as refused:
            status = refused.status or 500
            if status >= 500:
                raise
            return status
        return 201

    status = stack.until(answer, 180, "the API server answers")
    assert status in (201, 401, 403) or (status == 409 and next(tries) > 1), status
    return status in (201, 409)


def workload(owner: Owner, account: str, number: int) -> audit.Json:
    """A Job of the job, with pods that want no GPU, so that many fit a node."""
    labels = {JOB_LABEL: str(owner.job)}
    pod = {
        "restartPolicy": "Never",
        "hostNetwork": True,
        "terminationGracePeriodSeconds": 2,
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsUser": UID,
            "runAsGroup": GID,
            "supplementalGroupsPolicy": "Strict",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "nodeSelector": {LABEL: str(owner.job)},
        "tolerations": [{"key": TAINT, "value": owner.held, "effect": "NoSchedule"}],
        "containers": [
            {
                "name": "racer",
                "image": "docker.io/lab/pause:1",
                "imagePullPolicy": "Never",
                "workingDir": "/",
                "securityContext": {"allowPrivilegeEscalation": False},
            }
        ],
    }
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"parallelism": PODS, "completions": PODS, "backoffLimit": 1000, "template": template}
    metadata = {"name": f"{owner.prefix}r0-race{number}", "labels": labels}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
