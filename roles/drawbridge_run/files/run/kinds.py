# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of workloads that make a job's pods, one a node. Pure.

No kind retries: the job ends with its workload, and Slurm requeues jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .pod import Json, Request, template

RESOURCES = {"Job": "jobs", "TrainingRuntime": "trainingruntimes", "TrainJob": "trainjobs", "PyTorchJob": "pytorchjobs"}
TRAINER = "trainer.kubeflow.org"


class Kind(NamedTuple):
    """The software that a kind needs in the cluster, and a function that makes the objects in order of creation."""

    needs: str
    make: Callable[[Request], list[Json]]


def collection(item: Json) -> str:
    """URL path of the collection that this object belongs to."""
    return f"/apis/{item['apiVersion']}/namespaces/{item['metadata']['namespace']}/{RESOURCES[item['kind']]}"


def indexed_job(request: Request) -> list[Json]:
    """An indexed Job of Kubernetes itself."""
    pods = len(request.allocation.nodes)
    spec = {"completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0}
    return [_workload(request, "batch/v1", "Job", {**spec, "template": template(request)})]


def train_job(request: Request) -> list[Json]:
    """A TrainJob with its own runtime: a site's runtimes contain no user, job or node."""
    pods = len(request.allocation.nodes)
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {**request.labels, f"{TRAINER}/trainjob-ancestor-step": "trainer"}},
            "spec": {"backoffLimit": 0, "template": template(request, "node")},
        },
    }
    # a JobSet gets its labels from the template, not from its TrainJob
    job_set = {"metadata": {"labels": request.labels}, "spec": {"replicatedJobs": [job]}}
    runtime = {"mlPolicy": {"numNodes": pods}, "template": job_set}
    reference = {"apiGroup": TRAINER, "kind": "TrainingRuntime", "name": request.name}
    version = f"{TRAINER}/v1alpha1"
    return [
        _workload(request, version, "TrainingRuntime", runtime),
        _workload(request, version, "TrainJob", {"runtimeRef": reference, "trainer": {"numNodes": pods}}),
    ]


def pytorch_job(request: Request) -> list[Json]:
    """A PyTorchJob with workers only: with a master, an init container of another image would wait for its name."""
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
