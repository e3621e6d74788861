# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects of projects in memory, as an API server keeps them."""

from __future__ import annotations

import copy
from typing import Any

Json = dict[str, Any]

VOLUME: Json = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "drawbridge-atlas.scratch", "labels": {"drawbridge.io/project": "atlas"}},
    "spec": {
        "capacity": {"storage": "2048Gi"},
        "claimRef": {"namespace": "atlas", "name": "scratch"},
        "hostPath": {"path": "/gpfs/fs1/projects/atlas", "type": "Directory"},
    },
}
CLAIM: Json = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "scratch", "namespace": "atlas", "labels": {"drawbridge.io/project": "atlas"}},
    "spec": {"volumeName": "drawbridge-atlas.scratch", "accessModes": ["ReadWriteMany"]},
}
QUOTA: Json = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "drawbridge", "namespace": "atlas"},
    "spec": {"hard": {"count/pods": "1000"}},
}
BINDING: Json = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "drawbridge-node", "namespace": "atlas"},
    "roleRef": {"kind": "ClusterRole", "name": "drawbridge-node-namespace"},
    "subjects": [{"kind": "Group", "name": "nodes"}],
}
ALL = [QUOTA, BINDING, VOLUME, CLAIM]
CANONICAL = {"2048Gi": "2Ti", "1000": "1k"}
"""Quantities as the API server writes them."""
KINDS = {"persistentvolumes": "PersistentVolume", "persistentvolumeclaims": "PersistentVolumeClaim"}


class Server:
    """Answers as an API server. `used`: paths of objects that something holds, so that a deletion only begins."""

    def __init__(self, *used: str) -> None:
        self.items: dict[str, Json] = {}
        self.used, self.writes, self.deaf = used, list[str](), False

    def __call__(self, method: str, path: str, body: Json | None) -> tuple[int, Json]:
        path, _, query = path.partition("?")
        if method != "GET":
            self.writes.append(f"{method} {path}")
        if method == "GET" and query:
            return 200, {"items": self._listed(path)}
        return getattr(self, method.lower())(path, body)

    def _listed(self, path: str) -> list[Json]:
        space, _, kind = path.rpartition("/")
        inside = space if "/namespaces/" in path else "/api/v1/"
        return [
            it for at, it in self.items.items() if at.startswith(inside) and at.rpartition("/")[0].endswith(f"/{kind}")
        ]

    def get(self, path: str, _body: Json | None) -> tuple[int, Json]:
        return (200, self.items[path]) if path in self.items else (404, {})

    def apply(self, path: str, body: Json) -> tuple[int, Json]:
        if self.deaf:
            return 422, {"message": "denied by drawbridge-volumes"}
        before = self.items.get(path, {"spec": {}})
        made = copy.deepcopy({key: it for key, it in body.items() if key != "kind"})
        for holder, key in (("capacity", "storage"), ("hard", "count/pods")):
            if quantity := made.get("spec", {}).get(holder):
                quantity[key] = CANONICAL.get(quantity[key], quantity[key])
        if uid := before["spec"].get("claimRef", {}).get("uid") if "spec" in made else None:
            made["spec"]["claimRef"]["uid"] = uid  # the binder's own
        made["metadata"]["uid"] = "1"
        self.items[path] = {**before, **made}
        return 200, self.items[path]

    def patch(self, path: str, body: Json) -> tuple[int, Json]:
        if "annotations" in body.get("metadata", {}):
            self.items[path]["metadata"]["annotations"].update(body["metadata"]["annotations"])
            return 200, {}
        self.items[path]["spec"]["claimRef"].pop("uid")
        self.items[path]["status"] = {"phase": "Available"}
        return 200, {}

    def delete(self, path: str, _body: Json | None) -> tuple[int, Json]:
        if path not in self.items:
            return 404, {}
        if path in self.used:
            self.items[path]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        else:
            del self.items[path]
        return 200, {}
