# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Open a job's nodes, all or none, then give the job its identity: PrologSlurmctld, before anything of it runs.

Slurm kills this program with slurmctld and runs it again from the start, so every step may find itself done already.
The opener only adds rights; what has to be taken back is taken back with the reconciler's.
"""

from __future__ import annotations

from . import identity
from .api import METADATA, Answer, Api, Unreachable
from .closer import close_job
from .config import Job, Refused
from .gate_names import OPENER, RECONCILER, RUNTIMES, TAINT
from .nodes import MISSING, Swap, swap_all
from .states import LABEL_PATH, PODS, Json, opening
from .workloads import made_by
from .world import World

PAUSE_S = 3.0  # a node that is not closed yet, a server that has just started
TAKE_BACK_S = 10.0  # EpilogSlurmctld comes next, and then the timer
FORBIDDEN = {
    # the whole map, since a member can't be added to one that is not there; it differs from whatever is
    "drawbridge-identities": [
        {"op": "add", "path": "/metadata/annotations", "value": {"drawbridge.io/self-test": "no"}}
    ],
    # a label of our own, so that no other policy refuses it too: the API server names one of them only
    "drawbridge-transitions": [{"op": "add", "path": LABEL_PATH, "value": "0"}],
}
"""What the policies must refuse the opener; tried before every job, as dry runs."""


def open_job(job: Job, world: World) -> None:
    """Hold all nodes for the job, as often as it takes within our patience. Whatever it raises, nothing stays open."""
    opening_ = Opening(job, world)
    deadline = world.deadline(world.config.patience_s)
    try:
        while True:
            try:
                return opening_.attempt()
            except Refused:
                if not deadline.pause(PAUSE_S):
                    raise
    except Exception:
        try:
            close_job(job.owner, [job.account], job.nodes, world.api(RECONCILER, TAKE_BACK_S), world.log)
        except (Refused, Unreachable) as late:
            world.log.event("not taken back", job=job.owner.job, cause=str(late))
        raise


class Opening:
    """One run of the program for one run of a job."""

    def __init__(self, job: Job, world: World) -> None:
        self._job, self._world = job, world
        self._api = world.api(OPENER, world.config.patience_s)
        self._left = list(job.nodes)
        self._note = f"run-{job.owner.job}"
        self._run = {"restart": job.restart, "started": job.started, "namespace": job.owner.namespace}
        note = world.notes.read(self._note)
        self._begun = note == self._run
        """An earlier program for this very run was killed: what is there may be its work, not an older run's."""
        self._first = not note
        """No older run holds a node: what ends a run forgets its note last."""

    def attempt(self) -> None:
        """All steps; those that are done are skipped. Raises Refused, Unreachable."""
        self_test(self._api, self._job.nodes[0])
        refuse_leftovers(self._api, self._job, account_too=not self._begun)
        if not self._begun:
            self._world.notes.write(self._note, self._run)
        self._hold()
        self._begun = True
        self._identify()

    def _hold(self) -> None:
        """Swap what is not held yet. A node that an older run of the same job holds counts as foreign."""
        edge = opening(self._job.owner)
        swaps = swap_all(self._api, self._left, edge)
        for swap in swaps:
            if self._ours(swap):
                self._world.log.transition(edge, swap.node, self._job.owner)
        failed = [swap for swap in swaps if not swap.reached(edge) or not (self._ours(swap) or self._begun)]
        self._left = [swap.node for swap in failed]
        if failed:
            raise _refusal(failed)

    def _ours(self, swap: Swap) -> bool:
        """This program moved the node, whether or not the answer was lost."""
        return swap.changed or (swap.perhaps and self._first)

    def _identify(self) -> None:
        """Create the job's identity; what exists of it is ours, or a trace of an older run with that one's nodes."""
        for resource, body in identity.objects(self._job.owner, self._job.account, self._job.nodes):
            path, name = identity.path(self._job.owner.namespace, resource), body["metadata"]["name"]
            answer = self._api.call("POST", path, body)
            if not answer.ok and answer.status != 409:
                raise Refused(f"can't create the job's {resource} {name}: {answer.message}")
            if not answer.ok and not self._same(f"{path}/{name}", body):
                raise Refused(f"{resource} {name} of an older run of this job is still there; it is being ended")

    def _same(self, path: str, body: Json) -> bool:
        return set(identity.nodes(self._api.get(path).body)) == set(identity.nodes(body))


def self_test(api: Api, node: str) -> None:
    """Go on only while the policies are in force: try what they must refuse, as a dry run."""
    for policy, patch in FORBIDDEN.items():
        answer = api.call("PATCH", f"/api/v1/nodes/{node}?dryRun=All", patch, "application/json-patch+json")
        if answer.status == 404:
            raise Refused(f"node {node} {_foreign(MISSING)}", {node: _foreign(MISSING)})
        if not _refused_by(policy, answer):
            raise Refused(f"the admission policy {policy} is not in force ({answer.message}): run gate.yml")


def refuse_leftovers(api: Api, job: Job, account_too: bool) -> None:
    """Refuse while anything of an older run of this job is there: it would run beside the new one's."""
    namespace = job.owner.namespace
    selector = f"spec.serviceAccountName={job.account}"
    found = api.items(PODS.format(namespace), METADATA, fieldSelector=selector)
    # a runtime makes no pods, and its finalizer is another controller's to take off
    found += [item for path, item in made_by(job.owner, api) if not path.endswith(RUNTIMES)]
    names = [item["metadata"]["name"] for item in found]
    if account_too and not names:
        account = api.get(identity.path(namespace, "serviceaccounts", job.account))
        if account.status != 404:
            names = [job.account if account.ok else account.message]
    if names:
        raise Refused(f"{names[0]} of an older run of this job is still in namespace {namespace}; it is being ended")


def _refusal(failed: list[Swap]) -> Refused:
    """Hold back the nodes that a dead job left behind, and say why."""
    first = failed[0]
    foreign = {swap.node: _foreign(swap.value) for swap in failed if not swap.error}
    return Refused(first.error or f"node {first.node} {_foreign(first.value)}", foreign)


def _foreign(value: str) -> str:
    if value == MISSING:
        return "is not in Kubernetes: its kubelet never registered; run kubernetes.yml"
    if not value:
        return f"has no taint {TAINT}: look what runs there, then close it as a member of drawbridge:platform"
    return f"is not closed but {value}: it closes itself once nothing of that job is left there"


def _refused_by(policy: str, answer: Answer) -> bool:
    return f"'{policy}'" in answer.message
