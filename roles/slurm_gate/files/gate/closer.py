# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Take nodes back from a job that is over.

Two halves run at the same time: `close_job` on the controller ends the job's rights and workloads, `close_node` on
every node proves that node empty and closes it. A pod can be bound after the taint changed, but not once its
ServiceAccount is gone and no unbound pod is left: that is why the order matters.
"""

from __future__ import annotations

import time

from . import identity, log
from .api import Answer, Api
from .config import Job, Refused
from .nodes import swap, swap_all
from .opener import PODS, WORKLOADS
from .states import CLOSED, Json, closing, dirtying

LOOK_S = 0.3
SECOND_LOOK_S = 1.0  # admission reads a cache: a pod can be created just after the ServiceAccount went
IN_BACKGROUND = {"propagationPolicy": "Background"}


def close_job(job: Job, api: Api) -> None:
    """Nodes dirty, rights gone, workloads gone, unbound pods gone, in this order. Raises Refused, Unreachable."""
    for swapped in swap_all(api, job.nodes, dirtying(job.owner)):
        if swapped.changed:
            log.transition("dirty", swapped.node, job)
    for resource, body in reversed(identity.objects(job.owner, job.account, ())):
        path = identity.path(job.owner.namespace, resource, body["metadata"]["name"])
        _gone(api.call("DELETE", path), path)
    for workload in _items(api, WORKLOADS.format(job.owner.namespace)):
        if workload["metadata"]["name"].startswith(job.owner.prefix):
            _delete(api, WORKLOADS.format(job.owner.namespace), workload, IN_BACKGROUND)
    for pod in _pods(api, job):
        if not pod["spec"].get("nodeName"):
            _delete(api, PODS.format(job.owner.namespace), pod, {})


def close_node(job: Job, node: str, api: Api, empty_s: float, pod_grace_s: int) -> None:
    """Prove that nothing of the job is on this node, then close it. Safe to run twice or late.

    Raises Refused when the node is not empty within `empty_s` seconds: it stays dirty.
    """
    found = swap(api, node, dirtying(job.owner))
    if found.error:
        raise _stuck(node, f"can't be made dirty: {found.error}")
    if found.value != job.owner.dirty:
        return  # closed already, or never this job's
    if found.changed:
        log.transition("dirty", node, job)
    deadline = time.monotonic() + empty_s
    _await_empty(job, node, api, pod_grace_s, deadline)
    time.sleep(SECOND_LOOK_S)
    _await_empty(job, node, api, pod_grace_s, deadline)
    closed = swap(api, node, closing(job.owner))
    if not closed.reached(closing(job.owner)):
        raise _stuck(node, f"can't be closed: {closed.error or closed.value}")
    if closed.changed:
        log.transition(CLOSED, node, job)


def _await_empty(job: Job, node: str, api: Api, pod_grace_s: int, deadline: float) -> None:
    while obstacle := _obstacle(job, node, api, pod_grace_s):
        if time.monotonic() >= deadline:
            raise _stuck(node, obstacle)
        time.sleep(LOOK_S)


def _obstacle(job: Job, node: str, api: Api, pod_grace_s: int) -> str:
    """Why the node is not proven empty; "" if it is. The account is asked for first, then one consistent list.

    Own pods are deleted here, again and again, since some may appear while the account still is there.
    """
    account = api.get(identity.path(job.owner.namespace, "serviceaccounts", job.account))
    pods = _pods(api, job)
    here = [pod for pod in pods if pod["spec"].get("nodeName") == node]
    for pod in here:
        if "deletionTimestamp" not in pod["metadata"]:
            _delete(api, PODS.format(job.owner.namespace), pod, {"gracePeriodSeconds": pod_grace_s})
    if account.status != 404:
        return f"the job's ServiceAccount {job.account} is still there: the controller's epilog has not ended it"
    unbound = [pod for pod in pods if not pod["spec"].get("nodeName")]
    if left := here + unbound:
        return f"pod {job.owner.namespace}/{left[0]['metadata']['name']} is still there"
    return ""


def _pods(api: Api, job: Job) -> list[Json]:
    """All pods of the job, found by their account: unlike a label, nobody can change it."""
    return _items(api, PODS.format(job.owner.namespace), fieldSelector=f"spec.serviceAccountName={job.account}")


def _items(api: Api, path: str, **query: str) -> list[Json]:
    answer = api.get(path, **query)
    if not answer.ok:
        raise Refused(f"can't list {path}: {answer.message}")
    return answer.body["items"]


def _delete(api: Api, collection: str, item: Json, options: Json) -> None:
    """Delete this very object, not a later one of the same name."""
    metadata = item["metadata"]
    body = {**options, "preconditions": {"uid": metadata["uid"]}}
    path = f"{collection}/{metadata['name']}"
    _gone(api.call("DELETE", path, body), path)


def _gone(answer: Answer, path: str) -> None:
    if not answer.ok and answer.status not in (404, 409):  # 409: the name belongs to another object by now
        raise Refused(f"can't delete {path}: {answer.message}")


def _stuck(node: str, why: str) -> Refused:
    return Refused(f"node {node} is not proven empty: {why}", {node: f"not proven empty, {why}"})
