# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A small API server in memory: nodes, pods, workloads and accounts, with the answers of the real one."""

from __future__ import annotations

import copy
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonpatch

from roles.slurm_gate.files.gate.api import Answer, Api, Unreachable
from roles.slurm_gate.files.gate.config import Job
from roles.slurm_gate.files.gate.gate_names import TAINT
from roles.slurm_gate.files.gate.states import Owner, place

JOB = Job(Owner("vision", 4711), 2001, 3001, ("gpu01", "gpu02"))
INVALID = "the server rejected our request due to an error in our request"
POLICY = "ValidatingAdmissionPolicy 'drawbridge-identities' with binding 'drawbridge-identities' denied request: no"


def node(value: str = "closed", index: int = 0) -> dict[str, Any]:
    """A Node object with the gate's taint at a place of the list."""
    others = [{"key": f"other-{number}", "effect": "NoSchedule"} for number in range(index)]
    gate = [{"key": TAINT, "value": value, "effect": "NoSchedule"}] if value else []
    return {"metadata": {"labels": {}}, "spec": {"taints": others + gate}}


def pod(name: str, on: str = "", account: str = JOB.account) -> dict[str, Any]:
    """A pod of the job, bound to a node or not yet."""
    return {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": {"nodeName": on, "serviceAccountName": account}}


class Cluster(Api):
    """Stands in for Api. `down` makes it silent; `before` is called with every request, to act in between."""

    def __init__(self, **nodes: str) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        for name, value in (nodes or dict.fromkeys(JOB.nodes, "closed")).items():
            self.add("/api/v1/nodes", {**node(value), "metadata": {"name": name, "labels": {}}})
        self.policies, self.down, self.log, self.before = True, set(), [], lambda method, path: None

    def value(self, name: str) -> str:
        return place(self.objects[f"/api/v1/nodes/{name}"])[1]

    def values(self) -> list[str]:
        return [place(it)[1] for path, it in self.objects.items() if path.startswith("/api/v1/nodes/")]

    def add(self, collection: str, item: dict[str, Any]) -> None:
        self.objects[f"{collection}/{item['metadata']['name']}"] = item

    def get(self, path: str, **query: str) -> Answer:
        return self.call("GET", path, query=query)

    def call(self, method: str, path: str, body: Any = None, kind: str = "", query: Any = None) -> Answer:
        url = urlsplit(path)
        self.before(method, url.path)
        self.log.append((method, url.path))
        if (method, url.path) in self.down:
            raise Unreachable("the API server does not answer")
        return getattr(self, f"_{method.lower()}")(url.path, body, {**parse_qs(url.query), **(query or {})})

    def _get(self, path: str, _body: Any, query: Any) -> Answer:
        if path in self.objects:
            return Answer(200, copy.deepcopy(self.objects[path]))
        if not path.rsplit("/", 1)[-1].endswith("s"):
            return Answer(404, {"message": f"{path} not found"})
        items = [it for key, it in self.objects.items() if key.rpartition("/")[0] == path]
        if wanted := query.get("labelSelector"):
            items = [it for it in items if it["metadata"]["labels"].get(wanted.split("=")[0]) == wanted.split("=")[1]]
        if wanted := query.get("fieldSelector"):
            items = [it for it in items if it["spec"]["serviceAccountName"] == wanted.partition("=")[2]]
        return Answer(200, {"items": copy.deepcopy(items)})

    def _patch(self, path: str, body: Any, query: Any) -> Answer:
        if path not in self.objects:
            return Answer(404, {"message": f"{path} not found"})
        if "dryRun" in query:
            return Answer(422, {"message": POLICY}) if self.policies else Answer(200, {})
        try:
            self.objects[path] = jsonpatch.apply_patch(self.objects[path], body)
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
            return Answer(422, {"message": INVALID})
        return Answer(200, {})

    def _post(self, path: str, body: Any, _query: Any) -> Answer:
        if f"{path}/{body['metadata']['name']}" in self.objects:
            return Answer(409, {"message": "already exists"})
        self.add(path, body)
        return Answer(201, body)

    def _delete(self, path: str, body: Any, _query: Any) -> Answer:
        if path not in self.objects:
            return Answer(404, {"message": "not found"})
        uid = (body or {}).get("preconditions", {}).get("uid")
        if uid and self.objects[path]["metadata"]["uid"] != uid:
            return Answer(409, {"message": "the UID in the precondition does not match"})
        del self.objects[path]
        return Answer(200, {})
