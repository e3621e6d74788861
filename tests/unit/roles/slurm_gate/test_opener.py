# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from roles.slurm_gate.files.gate.api import Unreachable
from roles.slurm_gate.files.gate.config import Refused
from roles.slurm_gate.files.gate.opener import open_job
from tests.unit.roles.slurm_gate.cluster import JOB, Cluster, pod

ACCOUNTS = "/api/v1/namespaces/vision/serviceaccounts"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/namespaces/vision/rolebindings"


def test_all_nodes_then_the_identity() -> None:
    cluster = Cluster()
    open_job(JOB, cluster, cluster)
    assert set(cluster.values()) == {"vision.4711"}
    assert f"{ACCOUNTS}/slurm-4711-u2001-g3001" in cluster.objects
    assert cluster.objects[f"{BINDINGS}/slurm-4711-u2001-g3001-run"]["roleRef"]["name"] == "drawbridge-job"
    writes = [(method, path) for method, path in cluster.log if method != "GET"]
    assert writes[-1] == ("POST", BINDINGS)


def test_run_again_from_any_step_it_ends_the_same() -> None:
    """Slurm kills it with slurmctld and starts it anew."""
    requests = 20
    for killed_after in range(requests):
        cluster = Cluster()
        left = iter(range(killed_after))

        def die(method: str, path: str, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt

        cluster.before = die
        with contextlib.suppress(KeyboardInterrupt):
            open_job(JOB, cluster, cluster)
        cluster.before = lambda method, path: None
        open_job(JOB, cluster, cluster)
        assert set(cluster.values()) == {"vision.4711"}
        assert f"{BINDINGS}/slurm-4711-u2001-g3001-run" in cluster.objects


def test_one_node_that_is_not_closed_and_none_stays_open() -> None:
    cluster = Cluster(gpu01="closed", gpu02="dirty_vision.99")
    with pytest.raises(Refused, match=r"node gpu02 is not closed but dirty_vision\.99") as refused:
        open_job(JOB, cluster, cluster)
    assert list(refused.value.drain) == ["gpu02"]
    assert cluster.values() == ["dirty_vision.4711", "dirty_vision.99"]
    assert not any("serviceaccounts" in path for path in cluster.objects)


def test_a_node_without_the_taint_is_drained_too() -> None:
    cluster = Cluster(gpu01="closed", gpu02="")
    with pytest.raises(Refused, match="no taint") as refused:
        open_job(JOB, cluster, cluster)
    assert "break-glass" in refused.value.drain["gpu02"]


def test_without_policies_nothing_opens() -> None:
    cluster = Cluster()
    cluster.policies = False
    with pytest.raises(Refused, match="not in force"):
        open_job(JOB, cluster, cluster)
    assert set(cluster.values()) == {"closed"}


def test_a_node_that_kubernetes_does_not_know() -> None:
    with pytest.raises(Refused, match="gpu01 is not in Kubernetes"):
        open_job(JOB, Cluster(gpu09="closed"), Cluster())


def test_leftovers_of_an_older_run_refuse_before_anything_opens() -> None:
    cluster = Cluster()
    cluster.add("/api/v1/namespaces/vision/pods", pod("slurm-4711-r0-0-abcde"))
    with pytest.raises(Refused, match="older run"):
        open_job(JOB, cluster, cluster)
    assert set(cluster.values()) == {"closed"}


def test_an_identity_of_an_older_run_takes_everything_back() -> None:
    cluster = Cluster()
    cluster.add(ACCOUNTS, {"metadata": {"name": JOB.account}})
    with pytest.raises(Refused, match="already exists"):
        open_job(JOB, cluster, cluster)
    assert set(cluster.values()) == {"dirty_vision.4711"}


def test_a_server_that_falls_silent_half_way_leaves_nothing_held() -> None:
    cluster = Cluster()
    cluster.down = {("POST", BINDINGS)}
    with pytest.raises(Unreachable):
        open_job(JOB, cluster, cluster)
    assert set(cluster.values()) == {"dirty_vision.4711"}
