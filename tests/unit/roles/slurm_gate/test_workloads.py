# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.slurm_gate.files.gate.api import Answer
from roles.slurm_gate.files.gate.closer import close_job
from roles.slurm_gate.files.gate.config import Refused
from roles.slurm_gate.files.gate.opener import open_job
from roles.slurm_gate.files.gate.workloads import made_by
from tests.unit.roles.slurm_gate.cluster import JOB, JOBS, Cluster, Made

TRAINER = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/vision"
SETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/vision/jobsets"


def serve(cluster: Cluster, group: str, *versions: str) -> None:
    """What the API server knows of a group once its definitions are there."""
    cluster.groups.append({"name": group, "versions": [{"version": version} for version in versions]})


def add(cluster: Cluster, *collections: str) -> None:
    for collection in collections:
        cluster.add(collection, {"metadata": {"name": "slurm-4711-r0", "uid": collection}})


def test_what_the_server_does_not_know_is_not_looked_for(at: Made) -> None:
    assert made_by(JOB.owner, at.cluster) == []
    assert [path for _, path in at.cluster.log] == ["/apis", JOBS]


def test_a_kind_is_found_in_whatever_version_it_is_served(at: Made) -> None:
    serve(at.cluster, "kubeflow.org", "v2", "v1")
    add(at.cluster, "/apis/kubeflow.org/v1/namespaces/vision/pytorchjobs")
    ((collection, item),) = made_by(JOB.owner, at.cluster)
    assert collection == "/apis/kubeflow.org/v1/namespaces/vision/pytorchjobs"
    assert item["metadata"]["name"] == "slurm-4711-r0"


def test_other_jobs_workloads_are_not_this_ones(at: Made) -> None:
    serve(at.cluster, "jobset.x-k8s.io", "v1alpha2")
    at.cluster.add(SETS, {"metadata": {"name": "slurm-47110-r0", "uid": "1"}})
    assert made_by(JOB.owner, at.cluster) == []


def test_no_answer_is_not_no_such_kind(at: Made) -> None:
    at.cluster.scripted["GET", "/apis"] = [Answer(403, {"message": "no"})]
    with pytest.raises(Refused, match=r"can't list the groups of this API server: no"):
        made_by(JOB.owner, at.cluster)


def test_what_makes_others_goes_before_them(opened: Made) -> None:
    serve(opened.cluster, "trainer.kubeflow.org", "v1alpha1")
    serve(opened.cluster, "jobset.x-k8s.io", "v1alpha2")
    add(opened.cluster, JOBS, SETS, f"{TRAINER}/trainingruntimes", f"{TRAINER}/trainjobs")
    close_job(JOB.owner, [JOB.account], JOB.nodes, opened.cluster, opened.log)
    gone = [path.split("/")[-2] for method, path in opened.cluster.log if method == "DELETE"]
    rights = ["rolebindings", "roles", "serviceaccounts"]
    assert gone == [*rights, "trainjobs", "trainingruntimes", "jobsets", "jobs", "rolebindings"]


def test_a_runtime_that_trainer_has_not_let_go_keeps_no_node(at: Made) -> None:
    """It makes no pods, and its finalizer may stay for as long as Trainer is down."""
    serve(at.cluster, "trainer.kubeflow.org", "v1alpha1")
    add(at.cluster, f"{TRAINER}/trainingruntimes")
    open_job(JOB, at)
    assert set(at.cluster.values()) == {"vision.4711"}
