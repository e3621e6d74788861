# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Preparation of bench/gate.py: the gate's objects, Node objects without kubelets, and a host that acts for them."""

from __future__ import annotations

import io
import json
import sys
import tarfile
from collections.abc import Iterable, Iterator

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.action.gate_guards import guards
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.names import (
    CLOSED,
    EFFECT,
    GATE_NAMESPACE,
    NODES_NAMESPACE,
    OPENER,
    RECONCILER,
    TAINT,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import (
    bindings,
    infrastructure,
    namespaces,
    objects,
    open_nodes,
    with_mounts,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.view import shared

from bench.counted import ROOT, on_host
from bench.guest.gate_life import CENTRAL, PARTITION
from lab.hosts.paths import Paths
from lab.kubernetes.pki import Authority
from tests.attacks.client import Client, Json, path_of
from tests.attacks.manifests import rendered
from tests.attacks.scene import ADMIN, DEPLOYER, GPFS, KUBE, SLURM, refused_by, until

HOST, FOLDER = "gpu01", "/run/bench-gate"
IMAGES = 60
"""So many images make a Node of 20 kB, which is what GPU nodes weigh."""


def names(count: int) -> list[str]:
    """Names of nodes."""
    return [f"node{number:05}" for number in range(1, count + 1)]


def node(name: str) -> Json:
    """A GPU node as its kubelet registers it, and as operators label it."""
    labels = {f"nvidia.com/gpu.feature-{number:02}": "present" for number in range(40)}
    taint = {"key": TAINT, "value": CLOSED, "effect": EFFECT}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **labels},
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {"taints": [taint], "unschedulable": True},
    }


def status() -> Json:
    """The long part of a Node: what its kubelet has seen."""
    image = "registry.example.org/training/pytorch-with-a-long-name"
    images = [
        {"names": [f"{image}-{number:02}@sha256:{number:064x}", f"{image}-{number:02}:1.0"], "sizeBytes": 1 << 33}
        for number in range(IMAGES)
    ]
    return {"status": {"images": images, "capacity": {"cpu": "128", "nvidia.com/gpu": "8"}}}


def build(client: Client) -> None:
    """The role's objects, until its policies are in force."""
    early = (*infrastructure(KUBE), *with_mounts(SLURM, shared(GPFS)), *bindings(SLURM))
    for body in (*early, open_nodes(KUBE), *rendered()):
        client.apply(path_of(body), body, ADMIN)
    for body in (*namespaces(SLURM), *objects(SLURM)):
        client.apply(path_of(body), body, DEPLOYER, manager="drawbridge")
    free = {**node("free"), "spec": {}}
    until(lambda: refused_by(client.ask("POST", "/api/v1/nodes?dryRun=All", free), "lifecycle"), "the gate is in force")


def register(client: Client, nodes: Iterable[str]) -> None:
    """Make Node objects and the accounts of their hosts."""
    there = {item["metadata"]["name"] for item in client.ask("GET", "/api/v1/nodes").body["items"]}
    for name in [name for name in nodes if name not in there]:
        account = {"metadata": {"name": name}, "automountServiceAccountToken": False}
        _made(client, f"/api/v1/namespaces/{NODES_NAMESPACE}/serviceaccounts", account)
        _made(client, "/api/v1/nodes", node(name))
        client.ask("PATCH", f"/api/v1/nodes/{name}/status", status(), kind="application/merge-patch+json")


def _made(client: Client, path: str, body: Json) -> None:
    answer = client.ask("POST", path, body)
    if answer.status not in (201, 409):
        sys.exit(f"{path}: {answer.message}")


def dress(client: Client, nodes: list[str]) -> None:
    """Put the program, the scripts, and every host's files and identities where the guest's half finds them."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content, mode in files(client, nodes):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    on_host(HOST, f"rm -rf {FOLDER} && mkdir {FOLDER} && tar -C {FOLDER} -xf - --no-same-owner", packed.getvalue())


def files(client: Client, nodes: list[str]) -> Iterator[tuple[str, bytes, int]]:
    """Name, content and mode of each."""
    for path in sorted((ROOT / "roles/slurm_gate/files/gate").glob("*.py")):
        yield f"gate/{path.name}", path.read_bytes(), 0o644
    for path in (*(ROOT / "bench/seed").glob("*.sh"), *(ROOT / "bench/guest").glob("gate*.py")):
        yield path.name, path.read_bytes(), 0o644
    authority = Authority.ensure(Paths.of().kubeconfig.parent)
    yield "ca.crt", authority.ca.certificate, 0o644
    yield "config.json", json.dumps(config(nodes)).encode(), 0o644
    yield f"{CENTRAL}/guards.json", json.dumps(guards(client.ask)).encode(), 0o644
    for account in (OPENER, RECONCILER):
        yield f"{CENTRAL}/{account}.token", token(client, GATE_NAMESPACE, account), 0o600
    yield f"{CENTRAL}/lock", b"", 0o600
    for name in nodes:
        yield f"{name}/node.token", token(client, NODES_NAMESPACE, name), 0o600
        yield f"{name}/lock", b"", 0o600
        pair = authority.client(f"system:node:{name}", "system:nodes")
        yield f"{name}/kubeconfig", authority.kubeconfig(server(), pair).encode(), 0o600


def config(nodes: list[str]) -> Json:
    """The gate's configuration of these nodes; they have no real GPUs, so GPU use is not checked."""
    return {
        "api_server": server(),
        "ca_file": f"{FOLDER}/ca.crt",
        "partitions": [PARTITION],
        "partition_nodes": {PARTITION: ",".join(nodes)},
        "namespaces": {account.name: account.namespace for account in SLURM.accounts if account.namespace},
        "infra_namespaces": ["kube-system", GATE_NAMESPACE, NODES_NAMESPACE],
        "patience_s": 60,
        "empty_s": 90,
        "pod_grace_s": 10,
        "stuck_s": 120,
        "tries": 5,
        "runtime": "ctr",
        "gpu_daemons": [],
        "metrics": f"{FOLDER}/gate.prom",
        "pod_limits": {"gpus": "0"},
        "gpu_proof": {},
    }


def server() -> str:
    """The lab's API server."""
    return yaml.safe_load(Paths.of().kubeconfig.read_text())["clusters"][0]["cluster"]["server"]


def token(client: Client, namespace: str, account: str) -> bytes:
    """A host's token, as gate.yml brings it."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    answer = client.ask("POST", path, {"spec": {"expirationSeconds": 86400}}, DEPLOYER)
    if answer.status != 201:
        sys.exit(f"{path}: {answer.message}")
    return answer.body["status"]["token"].encode()
