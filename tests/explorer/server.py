# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The API server, as far as the gate can tell: the unit tests' cluster, and who may do what to it.

Modelled of admission and RBAC: drawbridge-transitions (and the self-test), -pod-ends, -job-objects (by whom) and
-tokens (whose). So is the ServiceAccount admission with its cache. A binding needs a pod which is unbound and not
being deleted. Not modelled: shapes of pods and workloads, which tests/attacks tries on a real API server.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.api import Answer
from roles.slurm_gate.files.gate.gate_names import CLOSED, DIRTY, LABEL
from roles.slurm_gate.files.gate.opener import ADMISSION, mark
from roles.slurm_gate.files.gate.states import Json, gate_taint, owner
from tests.unit.roles.slurm_gate.cluster import POLICY, Cluster, copied, node, own_token

from .records import PERSON, Change, History, Pod, Right
from .sim import Sim

NODES = "/api/v1/nodes/"
OPENER, RECONCILER = "opener", "reconciler"


class Caller(NamedTuple):
    """A program that asks: as whom, since when, what it knows of its host, and for which job's account."""

    name: str
    begun: float
    looked: float
    account: str


class Server(Cluster):
    """Objects, and what happens when they change. `watchers` are called with every pod and workload that does."""

    def __init__(self, sim: Sim, history: History, nodes: list[str]) -> None:
        super().__init__()
        self.objects = {path: it for path, it in self.objects.items() if path.startswith(ADMISSION)}
        self.sim, self.history = sim, history
        self.up, self.version = True, 0
        self.watchers: list[Callable[[str, Json], None]] = []
        self.policies_off_since = float("inf")
        """Since when a policy is not in force, or not as it was left."""
        self._uids, self._accounts_gone = itertools.count(1), {}
        self._rights: dict[str, float] = {}
        self._waiting: dict[str, float] = {}
        for name in nodes:
            self.add(NODES.rstrip("/"), {**node(CLOSED), "metadata": {"name": name, "labels": {}}})
            history.begun[name] = CLOSED

    def request(self, who: Caller, method: str, path: str, body: Any) -> Answer:
        """Answer a program."""
        path, _, words = path.partition("?")
        query = dict(parse_qsl(words)) if words else {}
        if method == "GET":
            return self._get(path, None, query)
        if method == "PATCH" and "dryRun" not in query:
            return self._write_node(who, unquote(path), body)
        if refused := self._refused(who.name, method, path, body):
            return refused
        self.version += 1
        if path.endswith("/token"):
            return self._token(who.name, path)
        if method == "POST":
            body = {**body, "metadata": {**body["metadata"], "uid": str(next(self._uids))}}
            self._right_begins(f"{path}/{body['metadata']['name']}")
        return getattr(self, f"_{method.lower()}")(path, body, query)

    def value(self, name: str) -> str:
        return gate_taint(self.objects[NODES + name])[1]

    def label(self, name: str) -> str:
        """The job that the node lets in."""
        return self.objects[NODES + name]["metadata"]["labels"].get(LABEL, "")

    def marks(self) -> dict[str, dict[str, str]]:
        """What gate.yml notes of the admission policies and bindings."""
        found: dict[str, dict[str, str]] = {}
        for path, it in self.objects.items():
            if path.startswith(ADMISSION):
                found.setdefault(path.split("/")[-2], {})[it["metadata"]["name"]] = mark(it["metadata"])
        return found

    def items_of(self, kind: str) -> list[tuple[str, Json]]:
        """All objects of a kind, with their paths."""
        return [(path, it) for path, it in self.objects.items() if path.rsplit("/", 2)[-2] == kind]

    # nodes

    def _write_node(self, who: Caller, path: str, body: Any) -> Answer:
        """One JSON Patch, judged as drawbridge-transitions does."""
        name = path.removeprefix(NODES)
        if path not in self.objects:
            return Answer(404, {"message": f'nodes "{name}" not found'})
        old, before = self.objects[path], self.value(name)
        answer = self._patch(path, body, {})
        if not answer.ok:
            return answer
        after, label = self.value(name), self.label(name)
        if self.policies and not allowed(who.name, name, before, after, label):
            self.objects[path] = old
            return Answer(422, {"message": POLICY.format("transitions")})
        self.version += 1
        known = (self.policies_off_since > who.begun, who.account, who.looked)
        self.history.changes.append(Change(self.sim.now, name, before, after, label, who.name, *known))
        self._tell(path, self.objects[path])
        return answer

    def edit_node(self, name: str, change: Callable[[Json], None]) -> None:
        """A person's or another controller's write of a Node."""
        before, path = self.value(name), NODES + name
        self.objects[path] = copied(self.objects[path])
        change(self.objects[path])
        self.version += 1
        if self.value(name) != before:
            change_ = Change(self.sim.now, name, before, self.value(name), self.label(name), PERSON)
            self.history.changes.append(change_)

    # everything else

    def _refused(self, who: str, method: str, path: str, body: Any) -> Answer | None:
        """RBAC and the policies, for what the gate asks for."""
        kind = path.split("/")[-1 if method == "POST" else -2]
        if method == "POST" and who == OPENER and kind in ("serviceaccounts", "roles", "rolebindings"):
            return None
        if method == "POST" and path.endswith("/token") and who not in (OPENER, RECONCILER):
            return None
        if method == "POST" and path.endswith(f"/{who}/token"):
            return None
        if method == "DELETE" and who == RECONCILER and kind != "nodes":
            return None
        if method == "DELETE" and kind == "pods" and path in self.objects:
            bound, grace = self.objects[path]["spec"].get("nodeName"), (body or {}).get("gracePeriodSeconds", 1)
            return None if bound == who and grace > 0 else Answer(422, {"message": POLICY.format("pod-ends")})
        if method in ("PATCH",) or (method == "DELETE" and kind == "pods"):
            return None
        return Answer(403, {"message": f"{who} cannot {method} {path}"})

    def _token(self, who: str, path: str) -> Answer:
        """A token of an account; of a job's to its nodes alone."""
        words = path.split("/")
        namespace, name = words[4], words[6]
        account = self.objects.get(identity.path(namespace, "serviceaccounts", name))
        binding = self.objects.get(identity.path(namespace, "rolebindings", name))
        if not name.startswith("slurm-"):
            return Answer(201, {"status": {"token": own_token(namespace, name)}})
        if not account or not binding or who not in identity.nodes(binding):
            return Answer(403 if account else 404, {"message": f"no token of {name} for {who}"})
        return Answer(201, {"status": {"token": f"{namespace} {name} {account['metadata']['uid']}"}})

    def may_run(self, token: str) -> bool:
        """A job's token is good for its workloads: its account and its right are there."""
        namespace, name, uid = token.split(" ")
        account = self.objects.get(identity.path(namespace, "serviceaccounts", name))
        right = identity.path(namespace, "rolebindings", name + identity.RUN)
        return bool(account) and account["metadata"]["uid"] == uid and right in self.objects

    def admits(self, namespace: str, account: str, lag: float) -> bool:
        """A pod may be made for the account: as admission's cache has it, `lag` seconds late."""
        path = identity.path(namespace, "serviceaccounts", account)
        return path in self.objects or self.sim.now - self._accounts_gone.get(path, float("-inf")) < lag

    def create(self, collection: str, item: Json) -> None:
        """Make an object that is not the gate's."""
        item["metadata"]["uid"] = str(next(self._uids))
        self.add(collection, item)
        self.version += 1
        if collection.endswith("/pods"):
            self._waiting[item["metadata"]["uid"]] = self.sim.now
        self._tell(f"{collection}/{item['metadata']['name']}", item)

    def bind(self, path: str, uid: str, name: str) -> bool:
        """Give a pod to a node, whatever the node's taint says: the API server does not look at it."""
        pod = self.objects.get(path)
        if not pod or pod["metadata"]["uid"] != uid or "deletionTimestamp" in pod["metadata"]:
            return False
        if pod["spec"].get("nodeName"):
            return False
        pod["spec"]["nodeName"] = name
        self.version += 1
        self._no_longer_unbound(pod)
        return True

    def _delete(self, path: str, body: Any, query: Any) -> Answer:
        """Pods on a node end with their grace; all else is gone at once."""
        for each, _ in self._chosen(path, query) if query else ():
            self._delete(each, body, {})
        if query:
            return Answer(200, {})
        it = self.objects.get(path)
        if it and path.split("/")[-2] == "pods" and it["spec"].get("nodeName"):
            uid = (body or {}).get("preconditions", {}).get("uid")
            if uid and it["metadata"]["uid"] != uid:
                return Answer(409, {"message": "the UID in the precondition does not match"})
            self.end_pod(path, (body or {}).get("gracePeriodSeconds", it["spec"]["terminationGracePeriodSeconds"]))
            return Answer(200, {})
        answer = super()._delete(path, body, query)
        if answer.ok and it:
            self.gone(path, it)
        return answer

    def end_pod(self, path: str, grace: float) -> None:
        """Ask a pod on a node to end. A later, shorter grace counts; a longer one does not."""
        pod = self.objects[path]
        metadata = pod["metadata"]
        if metadata.get("deletionGracePeriodSeconds", grace + 1) > grace:
            metadata |= {"deletionTimestamp": "now", "deletionGracePeriodSeconds": grace}
            self._tell(path, pod)

    def drop(self, path: str) -> None:
        """Remove an object at once: what the kubelet does in the end, and whoever uses force."""
        if it := self.objects.pop(path, None):
            self.gone(path, it)

    def gone(self, path: str, it: Json) -> None:
        """Take note that an object is no longer there."""
        self.version += 1
        if "/serviceaccounts/" in path:
            self._accounts_gone[path] = self.sim.now
        self._right_ends(path)
        if "/pods/" in path:
            self._no_longer_unbound(it)
        self._tell(path, it)

    def _no_longer_unbound(self, pod: Json) -> None:
        since = self._waiting.pop(pod["metadata"]["uid"], None)
        if since is not None:
            metadata = pod["metadata"]
            waited = Pod(metadata["name"], metadata["namespace"], pod["spec"]["job"], since, self.sim.now)
            self.history.unbound.append(waited)

    def _right_begins(self, path: str) -> None:
        if path.split("/")[-2] in ("serviceaccounts", "rolebindings") and path not in self.objects:
            self._rights[path] = self.sim.now

    def _right_ends(self, path: str) -> None:
        if path not in self._rights:
            return
        *_, namespace, kind, name = path.split("/")
        span = (self._rights.pop(path), self.sim.now)
        if holder := identity.owner(namespace, name):
            right = Right(*holder, identity.base(name), *span)
            self.history.rights.append(right)
            self.history.accounts += [right] if kind == "serviceaccounts" else []

    def finish(self) -> None:
        """At the end: the objects that still exist."""
        for path in list(self._rights):
            self._right_ends(path)
        for _, pod in self.items_of("pods"):
            self._no_longer_unbound(pod)

    def _tell(self, path: str, it: Json) -> None:
        for watcher in self.watchers:
            watcher(path, it)


def allowed(who: str, name: str, before: str, after: str, label: str) -> bool:
    """drawbridge-transitions: which edges are whose."""
    held = owner(after) if not after.startswith(DIRTY) else None
    if label != (str(held.job) if held else ""):
        return False
    if who == OPENER:
        return before == CLOSED and held is not None
    own, was = who == name, owner(before)
    if was and before == was.held and after == was.dirty:
        return own or who == RECONCILER
    return own and before.startswith(DIRTY) and after == CLOSED
