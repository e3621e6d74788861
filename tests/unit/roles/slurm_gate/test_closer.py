# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.slurm_gate.files.gate import closer
from roles.slurm_gate.files.gate.closer import close_job, close_node
from roles.slurm_gate.files.gate.config import Refused
from roles.slurm_gate.files.gate.opener import open_job
from tests.unit.roles.slurm_gate.cluster import JOB, Cluster, pod

PODS = "/api/v1/namespaces/vision/pods"
JOBS = "/apis/batch/v1/namespaces/vision/jobs"


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(closer, "LOOK_S", 0)
    monkeypatch.setattr(closer, "SECOND_LOOK_S", 0)
    made = Cluster()
    open_job(JOB, made, made)
    made.log.clear()
    return made


def close(cluster: Cluster, node: str = "gpu01") -> None:
    close_node(JOB, node, cluster, empty_s=0.05, pod_grace_s=1)


def test_both_halves_close_the_nodes_and_leave_nothing(cluster: Cluster) -> None:
    cluster.add(JOBS, {"metadata": {"name": "slurm-4711-r0", "uid": "1"}})
    cluster.add(JOBS, {"metadata": {"name": "slurm-47110-r0", "uid": "2"}})
    cluster.add(PODS, pod("slurm-4711-r0-0", "gpu01"))
    cluster.add(PODS, pod("slurm-4711-r0-1"))
    close_job(JOB, cluster)
    assert set(cluster.values()) == {"dirty_vision.4711"}
    for node in JOB.nodes:
        close(cluster, node)
    assert set(cluster.values()) == {"closed"}
    others = [path for path in cluster.objects if "/nodes/" not in path]
    assert others == [f"{JOBS}/slurm-47110-r0"]


def test_rights_go_before_workloads_and_workloads_before_pods(cluster: Cluster) -> None:
    cluster.add(JOBS, {"metadata": {"name": "slurm-4711-r0", "uid": "1"}})
    cluster.add(PODS, pod("slurm-4711-r0-1"))
    close_job(JOB, cluster)
    changed = [path.split("/")[-2] for method, path in cluster.log if method in ("PATCH", "DELETE")]
    assert changed == ["nodes", "nodes", "rolebindings", "rolebindings", "roles", "serviceaccounts", "jobs", "pods"]


def test_while_the_identity_is_there_no_node_closes(cluster: Cluster) -> None:
    """Pods could still be made with it."""
    with pytest.raises(Refused, match="ServiceAccount slurm-4711-u2001-g3001 is still there") as refused:
        close(cluster)
    assert cluster.value("gpu01") == "dirty_vision.4711"
    assert list(refused.value.drain) == ["gpu01"]


def test_an_unbound_pod_keeps_every_node_dirty(cluster: Cluster) -> None:
    """It can be bound to any of them, whatever their taints say."""
    close_job(JOB, cluster)
    cluster.add(PODS, pod("slurm-4711-r0-1"))
    with pytest.raises(Refused, match="slurm-4711-r0-1 is still there"):
        close(cluster)


def test_a_pod_that_does_not_go_keeps_the_node_dirty(cluster: Cluster) -> None:
    close_job(JOB, cluster)
    stubborn = pod("slurm-4711-r0-0", "gpu01")
    stubborn["metadata"]["deletionTimestamp"] = "now"
    cluster.add(PODS, stubborn)
    with pytest.raises(Refused):
        close(cluster)
    close(cluster, "gpu02")
    assert cluster.values() == ["dirty_vision.4711", "closed"]


def test_a_pod_that_comes_after_the_first_look_is_seen_by_the_second(cluster: Cluster) -> None:
    close_job(JOB, cluster)
    looks = []

    def late(method: str, path: str) -> None:
        if method == "GET" and path == PODS:
            looks.append(path)
            if len(looks) == 2:
                cluster.add(PODS, pod("slurm-4711-r0-9", "gpu01"))

    cluster.before = late
    close(cluster)
    assert ("DELETE", f"{PODS}/slurm-4711-r0-9") in cluster.log
    assert cluster.value("gpu01") == "closed"


@pytest.mark.parametrize("value", ["closed", "speech.7", "dirty_speech.7"])
def test_a_node_that_is_not_this_jobs_is_not_touched(value: str) -> None:
    cluster = Cluster(gpu01=value)
    close(cluster)
    assert cluster.value("gpu01") == value
    assert [method for method, _ in cluster.log] == ["PATCH", "GET"]


def test_twice_is_as_good_as_once(cluster: Cluster) -> None:
    for _ in range(2):
        close_job(JOB, cluster)
        close(cluster)
    assert cluster.value("gpu01") == "closed"


def test_bound_pods_are_left_to_their_nodes(cluster: Cluster) -> None:
    """Only there is it known when they have ended."""
    cluster.add(PODS, pod("slurm-4711-r0-0", "gpu01"))
    close_job(JOB, cluster)
    assert f"{PODS}/slurm-4711-r0-0" in cluster.objects


def test_a_later_pod_of_the_same_name_is_not_deleted(cluster: Cluster) -> None:
    cluster.add(PODS, pod("slurm-4711-r0-0"))
    later = {**pod("slurm-4711-r0-0"), "metadata": {"name": "slurm-4711-r0-0", "uid": "later"}}

    def replaced(method: str, path: str) -> None:
        if (method, path) == ("DELETE", f"{PODS}/slurm-4711-r0-0"):
            cluster.add(PODS, later)

    cluster.before = replaced
    close_job(JOB, cluster)
    assert f"{PODS}/slurm-4711-r0-0" in cluster.objects
