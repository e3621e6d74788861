# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.slurm_gate.files.gate import closer, mend, slurm
from roles.slurm_gate.files.gate.mend import mend_cluster, mend_node
from roles.slurm_gate.files.gate.opener import open_job
from tests.unit.roles.slurm_gate.cluster import JOB, Cluster, pod

PODS = "/api/v1/namespaces/vision/pods"
ACCOUNTS = "/api/v1/namespaces/vision/serviceaccounts"


@pytest.fixture
def resumed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Nodes that were resumed; Slurm has no job on any node."""
    nodes: list[str] = []
    for name in ("LOOK_S", "SECOND_LOOK_S"):
        monkeypatch.setattr(closer, name, 0)
    monkeypatch.setattr(mend, "EMPTY_S", 0.02)
    monkeypatch.setattr(slurm, "jobs_on", lambda node: set())
    monkeypatch.setattr(slurm, "resume", nodes.append)
    return nodes


@pytest.mark.parametrize("value", ["dirty_vision.4711", "vision.4711"])
def test_a_node_of_a_job_that_is_over_is_closed_and_resumed(value: str, resumed: list[str]) -> None:
    cluster = Cluster(gpu01="closed")
    cluster.objects["/api/v1/nodes/gpu01"]["metadata"]["labels"] = {}
    cluster.objects["/api/v1/nodes/gpu01"]["spec"]["taints"][0]["value"] = value
    if value == JOB.owner.held:
        label = "drawbridge.node-restriction.kubernetes.io/slurm-job"
        cluster.objects["/api/v1/nodes/gpu01"]["metadata"]["labels"][label] = "4711"
    assert mend_node("gpu01", cluster, 1)
    assert cluster.value("gpu01") == "closed"
    assert resumed == ["gpu01"]


@pytest.mark.parametrize("alive", [{4711}, None])
def test_while_slurm_has_the_job_or_does_not_say_nothing_changes(
    alive: set[int] | None, resumed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "jobs_on", lambda node: alive)
    cluster = Cluster(gpu01="dirty_vision.4711")
    assert mend_node("gpu01", cluster, 1)
    assert cluster.value("gpu01") == "dirty_vision.4711"
    assert [method for method, _ in cluster.log] == ["GET"]


@pytest.mark.parametrize("value", ["closed", "", "maintenance"])
def test_a_node_of_no_job_costs_one_read(value: str, resumed: list[str]) -> None:
    cluster = Cluster(gpu01=value)
    assert mend_node("gpu01", cluster, 1)
    assert len(cluster.log) == 1


def test_an_identity_that_is_left_keeps_the_node_dirty(resumed: list[str]) -> None:
    cluster = Cluster(gpu01="dirty_vision.4711")
    cluster.add(ACCOUNTS, {"metadata": {"name": JOB.account}})
    assert not mend_node("gpu01", cluster, 1)
    assert cluster.value("gpu01") == "dirty_vision.4711"
    assert resumed == []


def test_a_pod_that_is_left_is_found_by_its_account_and_ended(resumed: list[str]) -> None:
    cluster = Cluster(gpu01="dirty_vision.4711")
    cluster.add(PODS, pod("slurm-4711-r0-0", "gpu01"))
    assert mend_node("gpu01", cluster, 1)
    assert f"{PODS}/slurm-4711-r0-0" not in cluster.objects


@pytest.mark.parametrize(("alive", "ended"), [(set(), True), ({471}, True), ({4711}, False), (None, False)])
def test_a_job_that_is_over_loses_its_identity_and_its_nodes(
    alive: set[int] | None, ended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "jobs_running", lambda: alive)
    cluster = Cluster()
    open_job(JOB, cluster, cluster)
    cluster.add(PODS, pod("slurm-4711-r0-1"))
    assert mend_cluster(["speech", "vision"], cluster)
    assert set(cluster.values()) == ({"dirty_vision.4711"} if ended else {"vision.4711"})
    assert (f"{ACCOUNTS}/{JOB.account}" in cluster.objects) is not ended
    assert (f"{PODS}/slurm-4711-r0-1" in cluster.objects) is not ended


def test_slurm_is_not_asked_while_there_is_no_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "jobs_running", lambda: pytest.fail("asked for nothing"))
    cluster = Cluster()
    cluster.add(ACCOUNTS, {"metadata": {"name": "default"}})
    assert mend_cluster(["vision"], cluster)
