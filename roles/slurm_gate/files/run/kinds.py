# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of workloads that make a job's pods. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .pod import Json, Request, template


class Kind(NamedTuple):
    """Where a kind lives in the API, and how one is made."""

    group: str
    resource: str
    needs: str
    """What has to be installed in the cluster for it."""
    make: Callable[[Request], Json]

    def collection(self, namespace: str) -> str:
        """URL path of all workloads of this kind."""
        return f"/apis/{self.group}/namespaces/{namespace}/{self.resource}"


def indexed_job(request: Request) -> Json:
    """The core API's own kind: works everywhere. One pod a node; what fails is not tried again: that is Slurm's."""
    pods = len(request.allocation.nodes)
    spec = {"completionMode": "Indexed", "completions": pods, "parallelism": pods, "backoffLimit": 0}
    return _workload(request, "batch/v1", "Job", {**spec, "template": template(request)})


def _workload(request: Request, version: str, kind: str, spec: Json) -> Json:
    metadata = {"name": request.name, "namespace": request.grant.namespace, "labels": request.labels}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


KINDS = {"job": Kind("batch/v1", "jobs", "Kubernetes", indexed_job)}
