# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.slurm_gate.files.gate.api import METADATA, Answer
from roles.slurm_gate.files.gate.closer import close_job, close_node
from roles.slurm_gate.files.gate.config import Refused
from tests.unit.roles.slurm_gate.cluster import ACCOUNTS, BINDINGS, JOB, JOBS, PODS, Made, pod


def close(at: Made, node: str = "gpu01") -> None:
    close_node(JOB.owner, node, at, at.cluster, empty_s=at.config.empty_s)


def end(at: Made) -> None:
    close_job(JOB.owner, [JOB.account], JOB.nodes, at.cluster, at.log)


def test_both_halves_close_the_nodes_and_leave_nothing(opened: Made) -> None:
    cluster = opened.cluster
    cluster.add(JOBS, {"metadata": {"name": "slurm-4711-r0", "uid": "1"}})
    cluster.add(JOBS, {"metadata": {"name": "slurm-47110-r0", "uid": "2"}})
    cluster.add(PODS, pod("slurm-4711-r0-0", "gpu01"))
    cluster.add(PODS, pod("slurm-4711-r0-1"))
    end(opened)
    assert set(cluster.values()) == {"dirty_vision.4711"}
    for node in JOB.nodes:
        close(opened, node)
    assert set(cluster.values()) == {"closed"}
    others = [path for path in cluster.objects if "/nodes/" not in path and "admission" not in path]
    assert others == [f"{JOBS}/slurm-47110-r0"]


def test_rights_go_before_workloads_and_workloads_before_pods(opened: Made) -> None:
    opened.cluster.add(JOBS, {"metadata": {"name": "slurm-4711-r0", "uid": "1"}})
    opened.cluster.add(PODS, pod("slurm-4711-r0-1"))
    end(opened)
    changed = [path.split("/")[-2] for method, path in opened.cluster.log if method in ("PATCH", "DELETE")]
    ended = ["nodes", "nodes", "rolebindings", "roles", "serviceaccounts", "jobs", "pods", "rolebindings"]
    assert changed == ended, "a trace goes last, or nobody would find what was not done"


def test_many_of_a_kind_are_deleted_in_one_request(opened: Made) -> None:
    """What the selectors miss goes by its name. Bound pods are left to their nodes, which know when they have ended."""
    cluster = opened.cluster
    labels = {"drawbridge.io/slurm-job": "4711"}
    for number in range(9):
        cluster.add(JOBS, {"metadata": {"name": f"slurm-4711-r{number}", "uid": f"j{number}", "labels": labels}})
        cluster.add(PODS, pod(f"slurm-4711-r{number}-0"))
    cluster.add(JOBS, {"metadata": {"name": "slurm-4711-bare", "uid": "bare", "labels": {}}})
    cluster.add(PODS, pod("slurm-4711-r0-1", "gpu02"))
    end(opened)
    ended = [path for method, path in cluster.log if method == "DELETE" and path.startswith((JOBS, PODS))]
    assert ended == [JOBS, f"{JOBS}/slurm-4711-bare", PODS]
    assert [path for path in cluster.objects if path.startswith((JOBS, PODS))] == [f"{PODS}/slurm-4711-r0-1"]


def test_a_node_that_is_gone_from_kubernetes_keeps_no_job_alive(opened: Made) -> None:
    del opened.cluster.objects["/api/v1/nodes/gpu02"]
    end(opened)
    assert not any("serviceaccounts" in path for path in opened.cluster.objects)


def test_while_the_identity_is_there_no_node_closes(opened: Made) -> None:
    """Pods could still be made with it."""
    with pytest.raises(Refused, match="ServiceAccount slurm-4711-u2001-g3001 still exists") as refused:
        close(opened)
    assert opened.cluster.value("gpu01") == "dirty_vision.4711"
    assert list(refused.value.drain) == ["gpu01"]


def test_an_account_with_a_jobs_label_and_another_name_keeps_no_node_dirty(opened: Made) -> None:
    end(opened)
    opened.cluster.add(ACCOUNTS, {"metadata": {"name": "helper", "labels": {"drawbridge.io/slurm-job": "4711"}}})
    close(opened)
    assert opened.cluster.value("gpu01") == "closed"


def test_an_unbound_pod_keeps_every_node_dirty(opened: Made) -> None:
    """It can be bound to any of them, whatever their taints say."""
    end(opened)
    opened.cluster.add(PODS, pod("slurm-4711-r0-1"))
    with pytest.raises(Refused, match="slurm-4711-r0-1 still exists"):
        close(opened)


@pytest.mark.parametrize(("grace", "shortened"), [(10, False), (30, True)])
def test_a_pod_that_takes_its_time_gets_no_more_than_ours(grace: int, shortened: bool, opened: Made) -> None:
    """Its workload's end gave it as much as its own template asks for."""
    end(opened)
    ending = pod("slurm-4711-r0-0", "gpu01")
    ending["metadata"] |= {"deletionTimestamp": "now", "deletionGracePeriodSeconds": grace}
    opened.cluster.add(PODS, ending)
    if shortened:
        close(opened)
    else:
        with pytest.raises(Refused):
            close(opened)
    assert (("DELETE", f"{PODS}/slurm-4711-r0-0") in opened.cluster.log) is shortened


def test_a_pod_that_comes_after_the_first_look_is_seen_by_the_second(opened: Made) -> None:
    end(opened)
    looks = []

    def late(method: str, path: str) -> None:
        if method == "GET" and path == PODS:
            looks.append(opened.clock.now())
            if len(looks) == 3:
                opened.cluster.add(PODS, pod("slurm-4711-r0-9", "gpu01"))

    opened.cluster.before = late
    close(opened)
    assert ("DELETE", f"{PODS}/slurm-4711-r0-9") in opened.cluster.log
    assert opened.cluster.value("gpu01") == "closed"
    assert looks[2] - looks[1] >= 1


def test_what_other_nodes_have_is_not_listed(opened: Made) -> None:
    asked = []
    listed = opened.cluster.get

    def get(path: str, accept: str = "", **query: str) -> Answer:
        asked.append((path, accept, query.get("fieldSelector")))
        return listed(path, accept, **query)

    end(opened)
    opened.cluster.get = get
    close(opened)
    pods = [it for it in asked if it[0] == PODS]
    assert pods == [(PODS, METADATA, "spec.nodeName="), (PODS, METADATA, "spec.nodeName=gpu01")] * 2


def test_a_process_on_a_gpu_keeps_the_node_dirty(opened: Made) -> None:
    end(opened)
    opened.host.on_gpus = {4242: "python3"}
    with pytest.raises(Refused, match=r"process 4242 \(python3\) uses a GPU: end it"):
        close(opened)
    assert opened.cluster.value("gpu01") == "dirty_vision.4711"


@pytest.mark.parametrize(("job", "closes"), [(4711, False), (5000, True)])
def test_a_process_of_another_slurm_job_may_use_a_gpu_and_the_ended_jobs_may_not(
    job: int, closes: bool, opened: Made
) -> None:
    end(opened)
    opened.host.on_gpus, opened.slurm.processes = {4242: "python3"}, {4242: job}
    if closes:
        return close(opened)
    with pytest.raises(Refused, match="4242"):
        close(opened)


def test_twice_is_as_good_as_once(opened: Made) -> None:
    for _ in range(2):
        end(opened)
        close(opened)
    assert opened.cluster.value("gpu01") == "closed"


def test_an_object_that_another_writer_changes_meanwhile_is_deleted(opened: Made) -> None:
    opened.cluster.add(JOBS, {"metadata": {"name": "slurm-4711-r0", "uid": "1"}})
    for path in (f"{BINDINGS}/{JOB.account}", f"{JOBS}/slurm-4711-r0"):
        opened.cluster.scripted["DELETE", path] = [Answer(409, {"message": "the object has been modified"})] * 2
    end(opened)
    assert not any(JOB.account in path or path.startswith(JOBS) for path in opened.cluster.objects)


def test_a_later_pod_of_the_same_name_is_not_deleted(opened: Made) -> None:
    opened.cluster.add(PODS, pod("slurm-4711-r0-0"))
    later = pod("slurm-4711-r0-0", account="slurm-9-u2001-g3001")
    later["metadata"]["uid"] = "later"

    def replaced(method: str, path: str) -> None:
        if (method, path) == ("DELETE", f"{PODS}/slurm-4711-r0-0"):
            opened.cluster.add(PODS, later)

    opened.cluster.before = replaced
    end(opened)
    assert f"{PODS}/slurm-4711-r0-0" in opened.cluster.objects
