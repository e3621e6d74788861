# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Open a job's nodes, all or none, then give the job its identity: PrologSlurmctld, before anything of it runs.

Slurm kills this program with slurmctld and runs it again from the start, so every step may find itself done already.
The opener only adds rights; what has to be taken back is taken back with the reconciler's.
"""

from __future__ import annotations

from . import identity, log
from .api import Api, Unreachable
from .config import Job, Refused
from .nodes import Swap, swap_all
from .states import dirtying, opening

POLICY = "drawbridge-identities"
SELF_TEST = {"metadata": {"annotations": {"drawbridge.io/self-test": "refuse me"}}}
WORKLOADS = "/apis/batch/v1/namespaces/{}/jobs"
PODS = "/api/v1/namespaces/{}/pods"


def open_job(job: Job, opener: Api, reconciler: Api) -> None:
    """Hold all nodes for the job. Raises Refused or Unreachable with nothing left open."""
    self_test(opener, job.nodes[0])
    refuse_leftovers(opener, job)
    try:
        swaps = swap_all(opener, job.nodes, opening(job.owner))
        _require_all(job, swaps)
        fresh = [swap.node for swap in swaps if swap.changed]
        for node in fresh:
            log.transition("held", node, job)
        _identify(opener, job, may_exist=not fresh)
    except (Refused, Unreachable):
        # A node that was never ours has another value, and is left alone.
        for swap in swap_all(reconciler, job.nodes, dirtying(job.owner)):
            if swap.changed:
                log.transition("dirty", swap.node, job)
        raise


def self_test(api: Api, node: str) -> None:
    """Go on only while the policies are in force: try what they must refuse, as a dry run."""
    answer = api.call("PATCH", f"/api/v1/nodes/{node}?dryRun=All", SELF_TEST, "application/merge-patch+json")
    if answer.status == 404:
        raise Refused(f"node {node} is not in Kubernetes", {node: "its kubelet never registered: run kubernetes.yml"})
    if POLICY not in answer.message:
        raise Refused(f"the admission policy {POLICY} is not in force ({answer.message}): run gate.yml")


def refuse_leftovers(api: Api, job: Job) -> None:
    """Refuse while workloads or pods of an older run of this job are there: they would run beside the new one's."""
    namespace, prefix = job.owner.namespace, job.owner.prefix
    for kind in (WORKLOADS, PODS):
        answer = api.get(kind.format(namespace))
        if not answer.ok:
            raise Refused(f"can't look for leftovers in namespace {namespace}: {answer.message}")
        names = [item["metadata"]["name"] for item in answer.body["items"]]
        if left := [name for name in names if name.startswith(prefix)]:
            raise Refused(f"{left[0]} of an older run of this job is still in namespace {namespace}; it is being ended")


def _require_all(job: Job, swaps: list[Swap]) -> None:
    """Refuse unless every node is held by the job, and hold back those that a dead job left behind."""
    failed = [swap for swap in swaps if not swap.reached(opening(job.owner))]
    if not failed:
        return
    first = failed[0]
    foreign = {swap.node: _foreign(swap.value) for swap in failed if not swap.error}
    raise Refused(first.error or f"node {first.node} {_foreign(first.value)}", foreign)


def _foreign(value: str) -> str:
    if not value:
        return "has no taint drawbridge.io/slurm: close it with a break-glass identity"
    return f"is not closed but {value}, left by that job: end its pods, then run its epilog again or close it by hand"


def _identify(api: Api, job: Job, may_exist: bool) -> None:
    """Create the job's identity. One that is there already is ours only if an earlier try held every node."""
    for resource, body in identity.objects(job.owner, job.account, job.nodes):
        answer = api.call("POST", identity.path(job.owner.namespace, resource), body)
        if answer.status == 409 and may_exist:
            continue
        if not answer.ok:
            raise Refused(f"can't create the job's {resource} {body['metadata']['name']}: {answer.message}")
