# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Take nodes back from a job that is over.

Two halves run at the same time. On the controller `close_job` deletes the job's rights and workloads. On every node
`close_node` proves that node empty and closes it. The order matters: a pod can be bound after the taint changed, until
its ServiceAccount is deleted and no unbound pod is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

from . import identity
from .api import METADATA, Api
from .config import Refused
from .gate_names import JOB_LABEL
from .log import Log
from .nodes import TRIES, swap, swap_all
from .proof import local_obstacle
from .states import PODS, Json, Owner, closing, dirtying
from .workloads import made_by
from .world import Deadline, World

LOOK_S = 0.3
SECOND_LOOK_S = 1.0  # admission reads a cache: a pod can be created just after the ServiceAccount was deleted
IN_BACKGROUND = {"propagationPolicy": "Background"}


def close_job(owner: Owner, accounts: Sequence[str], nodes: Sequence[str], api: Api, log: Log) -> None:
    """Make nodes dirty; delete rights, then workloads, then unbound pods. Raises Refused, Unreachable.

    One RoleBinding is deleted last: while it exists, the timer knows that clean-up is unfinished.
    """
    edge = dirtying(owner)
    swaps = swap_all(api, nodes, edge)
    for swapped in swaps:
        if swapped.changed:
            log.transition(edge, swapped.node, owner)
    for path in (path for account in accounts for path in identity.rights(owner, account)):
        _remove(api, path)
    _empty(api, lambda: made_by(owner, api), _numbered(owner), IN_BACKGROUND)
    pods = PODS.format(owner.namespace)
    for account in accounts:
        # by their account: unlike a label, it can't be changed
        chosen = {"fieldSelector": f"spec.serviceAccountName={account},spec.nodeName="}
        _empty(api, lambda chosen=chosen: [(pods, it) for it in api.items(pods, METADATA, **chosen)], chosen, {})
    for account in accounts:
        _remove(api, identity.trace(owner, account))
    if failed := [swapped for swapped in swaps if swapped.error]:
        raise Refused(f"node {failed[0].node} can't be made dirty: {failed[0].error}")


def _remove(api: Api, path: str) -> None:
    """Delete an object of the identity by name. Try again after a conflict with another write."""
    answer = api.call("DELETE", path)
    for _attempt in range(TRIES):
        if answer.ok or answer.status == 404:
            return
        if answer.status != 409:
            break
        answer = api.call("DELETE", path)
    raise Refused(f"can't delete {path}: {answer.message}")


def _empty(api: Api, find: Callable[[], list[tuple[str, Json]]], chosen: Mapping[str, str], options: Json) -> None:
    """Delete all that `find` returns. Several objects of one kind take one request with the selector `chosen`.

    Then search again: a label may be missing, or a name may belong to a new object.
    """
    found = find()
    if many := [path for path, count in Counter(path for path, _unused in found).items() if count > 1]:
        for path in many:
            _delete_all(api, path, chosen, options)
        found = find()
    left: list[str] = []
    for _attempt in range(TRIES):
        left = [path for path, item in found if not _delete(api, path, item, options)]
        if not left:
            return
        found = find()
    raise Refused(f"can't delete an ended job's objects in {left[0]}: another client keeps writing them")


def close_node(owner: Owner, node: str, world: World, api: Api, empty_s: float, moved_on: bool = False) -> None:
    """Prove that nothing of the job is on this node, then close it. Safe to run twice or late.

    `moved_on`: the job runs, but on other nodes. Raises Refused if the node is not empty within `empty_s` seconds; then
    it stays dirty.
    """
    if not make_dirty(owner, node, world, api):
        return
    deadline = world.deadline(empty_s)
    proof = Proof(owner, node, world, api, moved_on)
    proof.wait(deadline)
    world.clock.sleep(SECOND_LOOK_S)
    proof.wait(deadline)
    edge = closing(owner)
    closed = swap(api, node, edge)
    if not closed.reached(edge):
        raise not_empty(node, f"can't be closed: {closed.error or closed.value}")
    if closed.changed:
        world.log.transition(edge, node, owner)


def make_dirty(owner: Owner, node: str, world: World, api: Api) -> bool:
    """Take this node from the job. False if the job does not hold it."""
    edge = dirtying(owner)
    found = swap(api, node, edge)
    if found.error:
        raise not_empty(node, f"can't be made dirty: {found.error}")
    if found.changed:
        world.log.transition(edge, node, owner)
    return found.reached(edge)


def not_empty(node: str, why: str) -> Refused:
    """The refusal for a node that stays dirty; its drain reason says what to do."""
    return Refused(f"node {node} is not proven empty: {why}", {node: f"not proven empty, {why}"})


class Proof:
    """Checks one node until nothing of one job is left there."""

    def __init__(self, owner: Owner, node: str, world: World, api: Api, moved_on: bool) -> None:
        self._owner, self._node, self._world, self._api = owner, node, world, api
        self._moved_on = moved_on

    def wait(self, deadline: Deadline) -> None:
        """Return once the node is empty. Raises Refused when time is up, Unreachable."""
        while why := self.obstacle():
            if not deadline.pause(LOOK_S):
                raise not_empty(self._node, why)

    def obstacle(self) -> str:
        """Why the node is not proved empty; "" if it is.

        Lists ServiceAccounts first, then pods without a node, then those of this node. So a pod that is bound meanwhile
        is in one of the lists.

        All accounts with the job's number count, of any user: a killed slurmctld may reuse a number, and the taint has
        the same value then. Every check deletes the job's pods here, since new ones may appear while the account
        exists. The host is checked last: only there are processes visible whose pods Kubernetes has forgotten.
        """
        accounts = self._accounts()
        next_runs = bool(accounts) and self._moved_on and all(map(self._is_the_next_runs, accounts))
        unbound, here = self._pods(""), self._pods(self._node)
        for pod in here:
            self._end(pod)
        if accounts and not next_runs:
            return f"the job's ServiceAccount {accounts[0]} still exists: the controller has not deleted it yet"
        if left := here + ([] if next_runs else unbound):
            return f"pod {self._owner.namespace}/{left[0]['metadata']['name']} still exists: look at its kubelet"
        return local_obstacle(self._world, self._owner.job)

    def _pods(self, node: str) -> list[Json]:
        """Metadata of the job's pods on a node, or with none: finished pods of other nodes cost nothing."""
        chosen = {**_numbered(self._owner), "fieldSelector": f"spec.nodeName={node}"}
        return self._api.items(PODS.format(self._owner.namespace), METADATA, **chosen)

    def _accounts(self) -> list[str]:
        path = identity.path(self._owner.namespace, "serviceaccounts")
        names = [item["metadata"]["name"] for item in self._api.items(path, METADATA, **_numbered(self._owner))]
        return [name for name in names if identity.owner(self._owner.namespace, name) == self._owner]

    def _is_the_next_runs(self, account: str) -> bool:
        """Whether the account belongs to the job's next run, on other nodes. It was created after this run's end.

        Its pods can't be scheduled here: this node has no label.
        """
        binding = self._api.get(identity.path(self._owner.namespace, "rolebindings", account))
        return binding.ok and self._node not in identity.nodes(binding.body)

    def _end(self, pod: Json) -> None:
        """Delete a pod of the job unless it ends soon enough already."""
        grace = self._world.config.pod_grace_s
        metadata = pod["metadata"]
        if "deletionTimestamp" not in metadata or metadata.get("deletionGracePeriodSeconds", 0) > grace:
            _delete(self._api, PODS.format(self._owner.namespace), pod, {"gracePeriodSeconds": grace})


def _numbered(owner: Owner) -> dict[str, str]:
    """Selector of all objects with the job's number; policies keep that label unchanged."""
    return {"labelSelector": f"{JOB_LABEL}={owner.job}"}


def _delete_all(api: Api, collection: str, chosen: Mapping[str, str], options: Json) -> None:
    answer = api.call("DELETE", f"{collection}?{urlencode(chosen)}", options)
    if not answer.ok and answer.status != 404:
        raise Refused(f"can't delete {collection} of an ended job: {answer.message}")


def _delete(api: Api, collection: str, item: Json, options: Json) -> bool:
    """Delete this object, not a later one of the same name. False after a conflict."""
    metadata = item["metadata"]
    body = {**options, "preconditions": {"uid": metadata["uid"]}}
    path = f"{collection}/{metadata['name']}"
    answer = api.call("DELETE", path, body)
    if not answer.ok and answer.status not in (404, 409):
        raise Refused(f"can't delete {path}: {answer.message}")
    return answer.status != 409
