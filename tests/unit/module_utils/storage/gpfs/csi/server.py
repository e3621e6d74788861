# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An API server in memory with IBM's operator in it: objects of the kind are judged by the table's schema."""

from __future__ import annotations

import base64
import copy
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.names import (
    DRIVER_NODES,
    DRIVER_SIDECARS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.objects import (
    DEFINITION,
    OPERATOR,
    PLACES,
    RESOURCE,
    SIDECARS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.releases import (
    RELEASES,
    definition,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.view import gpfs_csi

Json = dict[str, Any]
SPACE = "ibm-spectrum-scale-csi-driver"
RESOURCES = f"{PLACES['CSIScaleOperator']}/{RESOURCE}"
CA = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
PASSWORD = "correct horse"  # because it is a test's
CREDENTIALS: Json = {"cluster": {"username": "csiadmin", "password": PASSWORD}}
CSI: Json = {
    "release": "3.0.0",
    "cluster": {
        "id": "2936932203756487754",
        "gui": [{"host": "gui1.site"}, {"host": "gui2.site", "port": 8443}],
        "ca": CA,
    },
    "classes": [{"name": "scratch", "filesystem": "fs1", "gid": 3001, "inode_limit": 1000000}],
}
STORAGE: Json = {"admin": "nsd1", "filesystems": [{"device": "fs1", "mount": "/gpfs/fs1"}]}
KUBE: Json = {
    "api_server": "https://api.site:6443",
    "ca_file": "/etc/kubernetes/pki/ca.crt",
    "infra": "infra[1-2]",
    "infra_namespaces": ["kube-system", SPACE],
}


def view(csi: Json | None = CSI, storage: Json = STORAGE) -> Json:
    """What the role gets of an intent."""
    nodes = part("nodes", {"classes": {}, "ranges": []})
    gpfs = part("gpfs", {**storage, **({"csi": csi} if csi else {})})
    return gpfs_csi(nodes, gpfs, part("kube", KUBE))


def manifest(release: str = "3.0.0") -> list[Json]:
    """A manifest with the kinds and names of IBM's, and the schema of the table."""
    about = {"name": OPERATOR, "namespace": SPACE}
    pod = {"serviceAccountName": OPERATOR, "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]}
    template = {
        "metadata": {"labels": {"app": OPERATOR}},
        "spec": {**pod, "containers": [{"name": "operator", "image": "x"}]},
    }
    subjects = [{"kind": "ServiceAccount", "name": OPERATOR, "namespace": SPACE}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": OPERATOR}
    rules = [{"apiGroups": ["csi.ibm.com"], "resources": ["*"], "verbs": ["*"]}]
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": about},
        {"apiVersion": role["apiGroup"] + "/v1", "kind": "ClusterRole", "metadata": {"name": OPERATOR}, "rules": rules},
        {
            "apiVersion": role["apiGroup"] + "/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": OPERATOR},
            "roleRef": role,
            "subjects": subjects,
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": about,
            "spec": {"selector": {"matchLabels": {"app": OPERATOR}}, "template": template},
        },
        definition(RELEASES[release]),
    ]


def written(folder: Path, items: list[Json] | None = None) -> Json:
    """Arguments of a manifest in a file."""
    text = yaml.safe_dump_all(manifest() if items is None else items)
    (folder / "operator.yaml").write_text(text)
    return {"source": str(folder / "operator.yaml"), "digest": hashlib.sha256(text.encode()).hexdigest()}


def schema_faults(value: Any, schema: Json, path: str = "") -> Iterator[str]:
    """What a structural schema refuses, as the API server does with fieldValidation=Strict."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
    if not isinstance(value, kinds[schema["type"]]):
        yield f"{path}: not of type {schema['type']}"
        return
    if isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{path}.{key}: required" for key in schema.get("required", ()) if key not in value)
        for key, inner in value.items():
            yield from schema_faults(inner, known[key], f"{path}.{key}") if key in known else [f"{path}.{key}: unknown"]
    for index, inner in enumerate(value if isinstance(value, list) else ()):
        yield from schema_faults(inner, schema["items"], f"{path}[{index}]")
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        yield f"{path}: too long"
    if value not in schema.get("enum", [value]):
        yield f"{path}: not one of {schema['enum']}"


class Server:
    """Answers as an API server. `mood` is the operator's: works, lies, absent, or stuck, which keeps its old word."""

    def __init__(self, *nodes: str) -> None:
        self.items: dict[str, Json] = {}
        self.writes: list[str] = []
        self.mood, self.password, self.forbidden = "works", PASSWORD, tuple[str, ...]()
        for name in nodes or ("infra1", "infra2", "gpu01"):
            self.items[f"/api/v1/nodes/{name}"] = {"metadata": {"name": name, "labels": {"zone": "a"}}}

    def __call__(self, method: str, path: str, body: Json | None) -> tuple[int, Json]:
        path, _, query = path.partition("?")
        if path.startswith(self.forbidden) and self.forbidden:
            return 403, {"message": "no right"}
        if method != "GET" and "dryRun" not in query:
            self.writes.append(f"{method} {path.rpartition('/')[2]}")
        return getattr(self, method.lower())(path, query, body)

    def get(self, path: str, query: str, _body: Json | None) -> tuple[int, Json]:
        if path == "/apis/csi.ibm.com/v1":
            return (200, {}) if self.schema() else (404, {})
        if path in self.items:
            return 200, copy.deepcopy(self.items[path])
        if path in (*PLACES.values(), "/api/v1/nodes", "/api/v1/persistentvolumes", "/apis/apps/v1/deployments"):
            whole = path.replace("/apps/v1/deployments", f"/apps/v1/namespaces/{SPACE}/deployments")
            own = [it for at, it in self.items.items() if at.rpartition("/")[0] == whole]
            marked = [it for it in own if not query or it["metadata"].get("labels", {}).get("drawbridge.io/part")]
            return 200, {"items": copy.deepcopy(marked)}
        return 404, {}

    def apply(self, path: str, query: str, body: Json) -> tuple[int, Json]:
        if path == RESOURCES and (found := self.refused(body)):
            return found
        before = self.items.get(path, {})
        if "parameters" in before and before["parameters"] != body["parameters"]:
            return 422, {"message": "updates to parameters are forbidden."}
        labels = {**before.get("metadata", {}).get("labels", {}), **body["metadata"].get("labels", {})}
        made = {**before, **copy.deepcopy(body), "metadata": {**body["metadata"], "labels": labels, "uid": "1"}}
        if "dryRun" in query:
            return 200, made
        self.items[path] = made
        if body["kind"] == "CustomResourceDefinition":
            made["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
        self.reconcile()
        return 200, self.items[path]

    def patch(self, path: str, _query: str, body: Json) -> tuple[int, Json]:
        labels = {**self.items[path]["metadata"].get("labels", {}), **body["metadata"]["labels"]}
        self.items[path]["metadata"]["labels"] = {key: value for key, value in labels.items() if value}
        self.reconcile()
        return 200, {}

    def delete(self, path: str, _query: str, _body: Json | None) -> tuple[int, Json]:
        return (200, self.items.pop(path)) if path in self.items else (404, {})

    def schema(self) -> Json:
        found = self.items.get(f"{PLACES['CustomResourceDefinition']}/{DEFINITION}")
        return found["spec"]["versions"][0]["schema"]["openAPIV3Schema"] if found else {}

    def refused(self, body: Json) -> tuple[int, Json] | None:
        if not (schema := self.schema()):
            return 404, {"message": "the server could not find the requested resource"}
        own = {key: value for key, value in body.items() if key != "metadata"}
        faults = [*schema_faults(own, schema)]
        return (422, {"message": "; ".join(faults)}) if faults else None

    def nodes(self, label: str) -> list[str]:
        return [it["metadata"]["name"] for it in self.items.values() if label in it["metadata"].get("labels", {})]

    def secret(self, name: str) -> Json:
        data = self.items[f"{PLACES['Secret']}/{name}"]["data"]
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def reconcile(self) -> None:
        """What IBM's operator does: it tries the password, then makes a DaemonSet and Deployments."""
        where = f"{PLACES['Deployment']}/{OPERATOR}"
        if where not in self.items or self.mood == "absent":
            return
        self.items[where]["status"] = {"availableReplicas": 1} if self.nodes(DRIVER_SIDECARS) else {}
        if RESOURCES not in self.items or self.mood == "stuck":
            return
        used = self.items[RESOURCES]["spec"]["clusters"][0]["secrets"]
        if self.secret(used)["password"] != self.password:
            self.word(
                "False", "GUIConnFailed", f"Failed to connect. 401: Unauthorized, the Secret {used} has incorrect"
            )
            return
        self.word("True", "CSIConfigured", "created")
        if self.mood == "lies":
            return
        ready = len(self.nodes(DRIVER_NODES))
        volumes = [{"name": "x", "secret": {"secretName": used}}, {"name": "y", "hostPath": {"path": "/"}}]
        self.items[f"{PLACES['DaemonSet']}/{RESOURCE}"] = {
            "metadata": {"name": RESOURCE},
            "spec": {"template": {"spec": {"volumes": volumes}}},
            "status": {"desiredNumberScheduled": ready, "numberReady": ready},
        }
        for name in SIDECARS:
            available = min(2, len(self.nodes(DRIVER_SIDECARS)))
            self.items[f"{PLACES['Deployment']}/{name}"] = {
                "metadata": {"name": name},
                "status": {"availableReplicas": available},
            }

    def word(self, status: str, reason: str, message: str) -> None:
        condition = {"type": "Success", "status": status, "reason": reason, "message": message}
        self.items[RESOURCES]["status"] = {"conditions": [condition]}
