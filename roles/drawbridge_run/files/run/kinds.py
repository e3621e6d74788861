# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of workloads that make a job's pods, one a node. Pure.

All of them try nothing again: that is Slurm's, whose job ends as its workload does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .pod import Json, Request, template

RESOURCES = {"Job": "jobs", "TrainingRuntime": "trainingruntimes", "TrainJob": "trainjobs", "PyTorchJob": "pytorchjobs"}
TRAINER = "trainer.kubeflow.org"


class Kind(NamedTuple):
    """What has to be installed in the cluster for a kind, and the objects of one workload in the order of creation."""

    needs: str
    make: Callable[[Request], list[Json]]


def collection(item: Json) -> str:
    """URL path of all objects of this one's kind in its namespace."""
    return f"/apis/{item['apiVersion']}/namespaces/{item['metadata']['namespace']}/{RESOURCES[item['kind']]}"


def indexed_job(request: Request) -> list[Json]:
    """The core API's own kind: works everywhere."""
    pods = len(request.allocation.nodes)
    spec = {"completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0}
    return [_workload(request, "batch/v1", "Job", {**spec, "template": template(request)})]


def train_job(request: Request) -> list[Json]:
    """Kubeflow Trainer's, with a runtime of its own: a site's runtimes know no user, no job and no node."""
    pods = len(request.allocation.nodes)
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {**request.labels, f"{TRAINER}/trainjob-ancestor-step": "trainer"}},
            "spec": {"backoffLimit": 0, "template": template(request, "node")},
        },
    }
    # a JobSet's labels are those of the template, whatever labels its TrainJob has
    job_set = {"metadata": {"labels": request.labels}, "spec": {"replicatedJobs": [job]}}
    runtime = {"mlPolicy": {"numNodes": pods}, "template": job_set}
    reference = {"apiGroup": TRAINER, "kind": "TrainingRuntime", "name": request.name}
    version = f"{TRAINER}/v1alpha1"
    return [
        _workload(request, version, "TrainingRuntime", runtime),
        _workload(request, version, "TrainJob", {"runtimeRef": reference, "trainer": {"numNodes": pods}}),
    ]


def pytorch_job(request: Request) -> list[Json]:
    """The training-operator's. Workers only: beside a master, each would wait for its name with a foreign image."""
    worker = {
        "replicas": len(request.allocation.nodes),
        "restartPolicy": "Never",
        "template": template(request, "pytorch"),
    }
    spec = {
        "nprocPerNode": str(request.processes),
        "runPolicy": {"backoffLimit": 0, "cleanPodPolicy": "None"},
        "pytorchReplicaSpecs": {"Worker": worker},
    }
    return [_workload(request, "kubeflow.org/v1", "PyTorchJob", spec)]


def _workload(request: Request, version: str, kind: str, spec: Json) -> Json:
    metadata = {"name": request.name, "namespace": request.grant.namespace, "labels": request.labels}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


KINDS = {
    "job": Kind("Kubernetes", indexed_job),
    "trainjob": Kind("Kubeflow Trainer", train_job),
    "pytorchjob": Kind("Kubeflow's training-operator", pytorch_job),
}
