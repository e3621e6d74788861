# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The tables as uniform rows.

A list in a table is a block: its first entry is what all others share. `by` in place of `as` is a row for each of them,
whose `id` ends with who it is. Words stand for what would be long.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import yaml

from tests.attacks.client import path_of
from tests.unit.module_utils.kube.kubelet.test_check import merged

HERE = Path(__file__).parent

Json = dict[str, Any]


@functools.cache
def read(name: str) -> Any:
    """One of the tables as it is written."""
    return yaml.load((HERE / name).read_text(), yaml.CSafeLoader)


VISION = "namespaces/vision"
PLACES = {
    "account": f"/api/v1/{VISION}/serviceaccounts",
    "admission": "/apis/admissionregistration.k8s.io/v1",
    "claim": "/api/v1/namespaces/atlas/persistentvolumeclaims",
    "job": f"/apis/batch/v1/{VISION}/jobs",
    "jobset": f"/apis/jobset.x-k8s.io/v1alpha2/{VISION}/jobsets",
    "namespace": "/api/v1/namespaces",
    "node": "/api/v1/nodes",
    "pod": f"/api/v1/{VISION}/pods",
    "pytorchjob": f"/apis/kubeflow.org/v1/{VISION}/pytorchjobs",
    "rbac": "/apis/rbac.authorization.k8s.io/v1",
    "runtime": f"/apis/trainer.kubeflow.org/v1alpha1/{VISION}/trainingruntimes",
    "trainjob": f"/apis/trainer.kubeflow.org/v1alpha1/{VISION}/trainjobs",
    "volume": "/api/v1/persistentvolumes",
}
"""What the first word of a path stands for."""
VERBS = ("get", "post", "put", "patch", "delete")
METADATA = {"labels": "labels", "named": "name", "owners": "ownerReferences"}
"""Words for a change of an object's metadata alone."""
MAIN: Json = {"name": "main", "image": "x", "workingDir": "/", "securityContext": {"allowPrivilegeEscalation": False}}
CONTAINERS = {"container": ("containers", MAIN), "first": ("initContainers", {**MAIN, "name": "first"})}
"""Words for the one container of a pod, as a change of one that may be."""


def attacks() -> list[Json]:
    """Everything that must be refused."""
    return [*rows("attacks.yml"), *(attack for row in rows("pods.yml") for attack in _each(row))]


def permits() -> list[Json]:
    """Everything that must be let in."""
    return rows("permits.yml")


WAYS = {
    "merge": ("update", "merge", "strategic", "json", "apply"),
    "create": ("create", "generateName", "apply"),
    "delete": ("delete", "deletecollection"),
}
"""Requests with the same outcome, by the word of a row that says it; generateName is a POST without a name."""
BUILT_IN = re.compile(r"/api/v1/|/apis/(apps|batch|discovery\.k8s\.io|rbac\.authorization\.k8s\.io)/")
"""Only these kinds know strategic merge patches."""


def neighbours() -> list[Json]:
    """The same acts by other requests. `tried`: by which, and what each must meet."""
    return [{"act": row["id"], **row, "tried": tried(row)} for row in rows("neighbours.yml")]


def tried(row: Json) -> Json:
    """The guard that each way of a row meets; `but` names those of some."""
    return {way: row.get("but", {}).get(way, row["guard"]) for way in ways(row)}


def ways(row: Json) -> tuple[str, ...]:
    """How a row is tried: by all requests with its outcome, or by its own alone."""
    word = next((word for word in WAYS if word in row), "")
    if "ways" in row or not word:
        return tuple(row.get("ways", [verb for verb in VERBS if verb in row]))
    return tuple(way for way in WAYS[word] if way != "strategic" or BUILT_IN.match(row["patch"]))


def rows(name: str) -> list[Json]:
    """The rows of a table, each with what its block shares, and without words that stand for something."""
    blocks = ([{}, entry] if isinstance(entry, dict) else entry for entry in read(name))
    whole = [{**shared, **row} for shared, *block in blocks for row in block]
    return [_whole(one) for row in whole for one in (_by_each(row) if "by" in row else [row])]


def _by_each(row: Json) -> list[Json]:
    """One row for each who does it."""
    rest = {key: value for key, value in row.items() if key not in ("id", "by")}
    return [{**rest, "act": row["id"], "id": f"{row['id']} by {who}", "as": who} for who in row["by"]]


def _whole(row: Json) -> Json:
    for verb in {*VERBS} & row.keys():
        word, _, rest = row[verb].partition(" ")
        row[verb] = f"{PLACES.get(word, word)}/{rest}" if rest else PLACES.get(word, word)
    for word in METADATA.keys() & row.keys():
        row["with" if "create" in row else "merge"] = {"metadata": {METADATA[word]: row.pop(word)}}
    return {**row, **{key: _pod(row[key]) for key in ("pod", "spec") if key in row}}


def _pod(spec: Json) -> Json:
    """A pod: its one container has `mounts` by volume, and a path as a volume is a directory of the host."""
    whole = {key: value for key, value in spec.items() if key not in CONTAINERS}
    for word, (key, sound) in CONTAINERS.items():
        if word in spec:
            change = dict(spec[word])
            mounts = [{"name": name, "mountPath": path} for name, path in change.pop("mounts", {}).items()]
            whole[key] = [merged(sound, {**change, "volumeMounts": mounts} if mounts else change)]
    if isinstance(spec.get("volumes"), dict):
        whole["volumes"] = [{"name": name, **_volume(source)} for name, source in spec["volumes"].items()]
    return whole


def _volume(source: str | Json) -> Json:
    return source if isinstance(source, dict) else {"hostPath": {"path": source, "type": "Directory"}}


def scene() -> Json:
    """Who takes part, the objects before the gate comes, its actions then, and the bodies that rows start from."""
    cast = read("scene.yml")
    acts = {act: [_whole({**row}) for row in cast[act]] for act in ("early", "nodes", "then", "in_force")}
    things = {name: {"path": _place(body := _object(it)), "body": body, **it} for name, it in cast["things"].items()}
    return {"people": cast["people"], "before": [_object(it) for it in cast["before"]], "things": things, **acts}


def _object(it: Json) -> Json:
    """A whole object from the part that a table gives."""
    version, kind = it["is"].split()
    namespace, _, name = it["named"].rpartition("/")
    job = re.match(r"slurm-(\d+)-", name)
    metadata = {key: it[key] for key in ("labels", "annotations", "finalizers") if key in it}
    metadata |= {"labels": {**it.get("labels", {}), "drawbridge.io/slurm-job": job[1]}} if job else {}
    metadata |= {"name": name, **({"namespace": namespace} if namespace else {})}
    if "by" in it:
        version_of_owner, kind_of_owner, owner = it["by"].split()
        reference = {"apiVersion": version_of_owner, "kind": kind_of_owner, "name": owner, "uid": UID}
        metadata["ownerReferences"] = [{**reference, "controller": True}]
    rest = {key: value for key, value in it.items() if key not in WRITTEN}
    if "role" in it:
        bound, called = it["role"].split()
        rest["roleRef"] = {"apiGroup": RBAC, "kind": bound, "name": called}
        rest["subjects"] = [_subject(*whom.split()) for whom in it["to"]]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **rest}


RBAC = "rbac.authorization.k8s.io"
UID = "00000000-0000-0000-0000-000000004711"
"""No test reads its owner."""
WRITTEN = ("is", "named", "by", "pod", "labels", "annotations", "finalizers", "role", "to")


def _subject(kind: str, name: str) -> Json:
    namespace, _, account = name.rpartition("/")
    if namespace:
        return {"kind": kind, "namespace": namespace, "name": account}
    return {"apiGroup": RBAC, "kind": kind, "name": name}


def _place(body: Json) -> str:
    """Where such objects are made: in the namespace of jobs, unless they belong to no namespace."""
    whole = body["kind"] in ("Node", "Namespace", "ClusterRoleBinding", "PersistentVolume")
    metadata = body["metadata"] if whole else {**body["metadata"], "namespace": "vision"}
    return path_of({**body, "metadata": metadata}).rpartition("/")[0]


TEMPLATES = {
    "a template's pod": "job",
    "a pod of a set": "jobset",
    "a pod of a runtime": "trainingruntime",
    "a PyTorchJob's worker": "pytorchjob",
}


def _each(row: Json) -> list[Json]:
    """A pod that may not be: in a template of every kind of workload, and made by controllers."""
    who = f"job 4711 of {row['in']}" if "in" in row else "job 4711"
    asked = [(f"{what} {row['id']}", who, thing, "workloads") for what, thing in TEMPLATES.items()]
    asked += [
        (f"a pod {row['id']}", "job-controller", "pod", "job-pods"),
        (f"a Job of a set has a pod that {row['id']}", "jobset controller", "job of a jobset", "workloads"),
        (f"a pod of a PyTorchJob {row['id']}", "training-operator", "pod of a pytorchjob", "job-pods"),
    ]
    rest = {key: row[key] for key in ("saying", "since", "in") if key in row}
    return [
        {"id": name, "as": who, "create": thing, "pod": row["spec"], "guard": guard, **rest}
        for name, who, thing, guard in asked
    ]
