# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Open a job's nodes, all or none, then give the job its identity: PrologSlurmctld, before anything of it runs.

When slurmctld dies, Slurm kills this program and later runs it again from the start, so every step may be done already.
The opener only adds rights; only the reconciler's identity removes them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from . import identity
from .api import METADATA, Api, Unreachable
from .closer import close_job
from .config import Job, Refused
from .gate_names import JOB_LABEL, LABEL, OPENER, RECONCILER, RUNTIMES, TAINT
from .nodes import MISSING, Swap, swap_all
from .states import LABEL_PATH, PODS, Json, opening
from .workloads import made_by
from .world import World

PAUSE_S = 3.0  # for a node that is not closed yet, or a server that has just started
TAKE_BACK_S = 10.0  # EpilogSlurmctld follows, and then the timer
FORBIDDEN = [{"op": "add", "path": LABEL_PATH, "value": "0"}]
"""A change that the policy FIRST must refuse, sent as a dry run before every job: are policies in force?"""
FIRST = "drawbridge-transitions"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
POLICY_PREFIX = "drawbridge-"


def open_job(job: Job, world: World) -> None:
    """Hold all nodes for the job, or none; try again for `patience_s`. After any exception no node stays open."""
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
        if not opening_.alone:
            raise  # nothing was opened; nodes under this number belong to another job
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
        self._begun = {key: note.get(key) for key in self._run} == self._run
        """An earlier program of this same run was killed: existing objects may be its own."""
        self._noted = self._begun
        self.alone = False
        """No other identity has the job's number, so no other running job holds the nodes."""

    def attempt(self) -> None:
        """Run all steps that are not done. Raises Refused, Unreachable."""
        self_test(self._api, self._job.nodes[0])
        compare_guards(self._api, self._world.guards())
        refuse_others(self._api, self._job, self._world.config.spaces, own_too=not self._begun)
        self.alone = True
        refuse_held(self._api, self._job, own_too=not self._noted)
        refuse_leftovers(self._api, self._job)
        if not self._noted:
            self._world.notes.write(self._note, self._run)
            self._noted = True
        self._hold()
        self._begun = True
        self._identify()
        self._world.notes.write(self._note, {**self._run, "opened": True})

    def _hold(self) -> None:
        """Hold the remaining nodes. A node that an older run of the same job holds is refused."""
        edge = opening(self._job.owner)
        swaps = swap_all(self._api, self._left, edge)
        for swap in swaps:
            if self._moved(swap):
                self._world.log.transition(edge, swap.node, self._job.owner)
        failed = [swap for swap in swaps if not swap.reached(edge) or not (self._moved(swap) or self._begun)]
        self._left = [swap.node for swap in failed]
        if failed:
            raise _refusal(failed)

    def _moved(self, swap: Swap) -> bool:
        """Whether this program moved the node, even if the answer was lost."""
        return swap.changed or swap.perhaps

    def _identify(self) -> None:
        """Create the job's identity. An existing object with other nodes belongs to an older run."""
        others = self._world.host.groups(self._job.uid, self._job.gid)
        for resource, body in identity.objects(self._job.owner, self._job.account, self._job.nodes, others):
            path, name = identity.path(self._job.owner.namespace, resource), body["metadata"]["name"]
            answer = self._api.call("POST", path, body)
            if not answer.ok and answer.status != 409:
                raise Refused(f"can't create the job's {resource} {name}: {answer.message}")
            if not answer.ok and not self._same(f"{path}/{name}", body):
                raise Refused(f"{resource} {name} of an older run of this job still exists; it is being ended")

    def _same(self, path: str, body: Json) -> bool:
        return set(identity.nodes(self._api.get(path).body)) == set(identity.nodes(body))


def self_test(api: Api, node: str) -> None:
    """Refuse unless policies are in force: try a forbidden change as a dry run."""
    answer = api.call("PATCH", f"/api/v1/nodes/{node}?dryRun=All", FORBIDDEN, "application/json-patch+json")
    if answer.status == 404:
        raise Refused(f"node {node} {_foreign(MISSING)}", {node: _foreign(MISSING)})
    if f"'{FIRST}'" not in answer.message:
        raise Refused(f"the admission policy {FIRST} is not in force ({answer.message}): run gate.yml")


def compare_guards(api: Api, known: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse unless all policies and bindings equal those that gate.yml left, by name, uid and generation."""
    if not known:
        raise Refused("this controller has no list of the admission policies: run gate.yml")
    for kind, there in known.items():
        listed = (item["metadata"] for item in api.items(f"{ADMISSION}/{kind}", METADATA))
        found = {metadata["name"]: mark(metadata) for metadata in listed}
        for name in sorted({*there, *(name for name in found if name.startswith(POLICY_PREFIX))}):
            if found.get(name) != there.get(name):
                if name not in found:
                    raise Refused(f"{name} of {kind} is missing, and it guards what a job opens: run gate.yml")
                raise Refused(f"{name} of {kind} is not as gate.yml has left it: run gate.yml")


def mark(metadata: Json) -> str:
    """A value that changes when the object changes or is created again."""
    return f"{metadata['uid']}/{metadata['generation']}"


def refuse_others(api: Api, job: Job, gated: Collection[str], own_too: bool) -> None:
    """Refuse while an identity with this job's number exists, also that of another user or job namespace.

    A slurmctld that was killed may reuse a job number, and pods select nodes by that number alone. A former job's
    account can create pods. While its RoleBinding exists, which is deleted last, some of its pods may still wait.
    The label alone is no identity: in other namespaces any user with rights there may write it.
    """
    chosen = {"labelSelector": f"{JOB_LABEL}={job.owner.job}"}
    collections = ("/api/v1/serviceaccounts", "/apis/rbac.authorization.k8s.io/v1/rolebindings")
    for path in collections:
        for metadata in (item["metadata"] for item in api.items(path, METADATA, **chosen)):
            holder = identity.owner(metadata["namespace"], metadata["name"])
            if holder is None or holder.job != job.owner.job or holder.namespace not in gated:
                continue
            own = holder == job.owner and identity.base(metadata["name"]) == job.account
            if not own:
                where = f"{metadata['namespace']}/{metadata['name']}"
                raise Refused(f"{where} of another job with this number still exists; it is being ended")
            if own_too:
                raise Refused(f"{metadata['name']} of an older run of this job still exists; it is being ended")


def refuse_held(api: Api, job: Job, own_too: bool) -> None:
    """Refuse while a node is held under this number for another job without an identity.

    slurmctld was killed before that identity was created. This job's pods would be scheduled to that node, too.
    """
    held = api.items("/api/v1/nodes", METADATA, labelSelector=f"{LABEL}={job.owner.job}")
    names = [item["metadata"]["name"] for item in held]
    if wrong := [name for name in names if own_too or name not in job.nodes]:
        drain = {name: _still_held() for name in wrong if name in job.nodes}
        raise Refused(f"node {wrong[0]} {_still_held()}", drain)


def refuse_leftovers(api: Api, job: Job) -> None:
    """Refuse while pods or workloads of an older run of this job exist: they would run beside the new run's."""
    namespace = job.owner.namespace
    selector = f"spec.serviceAccountName={job.account}"
    found = api.items(PODS.format(namespace), METADATA, fieldSelector=selector)
    # a runtime creates no pods, and another controller removes its finalizer
    found += [item for path, item in made_by(job.owner, api) if not path.endswith(RUNTIMES)]
    if found:
        name = found[0]["metadata"]["name"]
        raise Refused(f"{name} of an older run of this job is still in namespace {namespace}; it is being ended")


def _refusal(failed: list[Swap]) -> Refused:
    first = failed[0]
    foreign = {swap.node: _foreign(swap.value) for swap in failed if not swap.error}
    return Refused(first.error or f"node {first.node} {_foreign(first.value)}", foreign)


def _still_held() -> str:
    return "is still held under this job's number; it is being ended"


def _foreign(value: str) -> str:
    if value == MISSING:
        return "is not in Kubernetes: its kubelet never registered; run kubernetes.yml"
    if not value:
        return f"has no taint {TAINT}: look what runs there, then close it as a member of drawbridge:platform"
    return f"is not closed but {value}: it closes itself once nothing of that job is left there"
