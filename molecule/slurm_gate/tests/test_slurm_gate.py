# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Real jobs on a real Slurm open real kubelets, and what else tries does not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from .conftest import (
    ALLREDUCE,
    NODES,
    TAINT,
    all_closed,
    all_usable,
    comment,
    ghost,
    job_state,
    kube,
    patch,
    pods,
    quiet,
    reason,
    sbatch,
    ssh,
    state,
    until,
)

NODE_SA, GATE_SA = "system:serviceaccount:drawbridge-nodes", "system:serviceaccount:drawbridge-gate"


@pytest.fixture
def outsider() -> Iterator[str]:
    """A pod of somebody else, who waits for any node."""
    api, name = kube(), "outsider"
    api.create_namespace({"metadata": {"name": name}})
    container = {"name": "nosy", "image": "docker.io/lab/pause:1", "imagePullPolicy": "Never"}
    until(lambda: bool(api.list_namespaced_service_account(name).items), 20, "the namespace's account")
    api.create_namespaced_pod(name, {"metadata": {"name": "nosy"}, "spec": {"containers": [container]}})
    yield name
    api.delete_namespace(name)


def test_jobs_back_to_back_and_an_array_each_get_their_node_and_leave_it(outsider: str) -> None:
    jobs = [quiet("-N2 -w gpu01,gpu02"), quiet("-N1 --array=1-3"), quiet("-N2 -w gpu01,gpu02")]
    until(lambda: not ssh("ctl", "squeue -h"), 120, "all of them over")
    states = ssh("ctl", f"sacct -n -X -P -j {','.join(jobs)} -o State").split()
    assert states == ["COMPLETED"] * 5
    until(all_usable, 20, "nodes closed, none drained")
    accounts = [account.metadata.name for account in kube().list_namespaced_service_account("vision").items]
    assert not [name for name in accounts if name.startswith("slurm-")]
    pod = kube().read_namespaced_pod("nosy", outsider)
    assert (pod.status.phase, pod.spec.node_name) == ("Pending", None)
    assert "untolerated taint" in pod.status.conditions[0].message


def test_a_job_of_another_partition_leaves_its_nodes_closed() -> None:
    job = sbatch("-p hpc -N1 -w gpu01 --output=/dev/null", "#!/bin/sh\nsleep 30\n")
    until(lambda: job_state(job) == "RUNNING", 30, "the job runs")
    assert all_closed()
    ssh("ctl", f"scancel {job}")


def test_a_cancelled_job_takes_its_pods_along_and_a_process_on_a_gpu_keeps_its_node_dirty() -> None:
    job = sbatch("--output=/dev/null", ALLREDUCE.replace("import array", "import time; time.sleep(600)"))
    until(lambda: len(pods()) == 2, 60, "both pods run")
    assert {state(node) for node in NODES} == {f"vision.{job}"}
    with ghost("gpu01") as pid:
        ssh("ctl", f"scancel {job}")
        until(lambda: f"process {pid} (python3) uses a GPU: end it" in reason("gpu01"), 60, "drained, with the cause")
        assert state("gpu01") == f"dirty_vision.{job}"
        until(lambda: state("gpu02") == "closed", 30, "gpu02 closed")
        assert not kube().list_namespaced_pod("vision").items
    until(all_usable, 60, "both nodes in service, without a person")
    for node in NODES:
        assert not ssh(node, "pgrep -u ada -f JOB_COMPLETION_INDEX || true")
        assert not ssh(node, f"ls /run/drawbridge/jobs/{job} 2>/dev/null || true")


def test_a_job_without_pods_does_not_start_beside_a_process_on_a_gpu() -> None:
    with ghost("gpu02") as pid:
        job = sbatch("-p hpc -N1 -w gpu02 --output=/dev/null")
        until(lambda: reason("gpu02"), 60, "gpu02 drained")
        assert reason("gpu02") == f"drawbridge gate: process {pid} (python3) uses a GPU: end it"
        until(lambda: job_state(job) == "PENDING", 20, "its prolog sent it back")
        ssh("ctl", f"scancel {job}")
    until(all_usable, 60, "in service, without a person")


def test_jobs_that_end_while_the_api_server_is_down_leave_usable_nodes() -> None:
    jobs = [quiet(f"-N1 -w {node}", "#!/bin/sh\nsleep 4\n") for node in NODES]
    until(lambda: [job_state(job) for job in jobs] == ["RUNNING"] * 2, 30, "both jobs run")
    ssh("ctl", "systemctl stop kube-apiserver")
    try:
        until(lambda: all(reason(node) for node in NODES), 60, "both nodes drained: nobody can prove them empty")
        waiting = quiet("-N2 -w gpu01,gpu02")
    finally:
        ssh("ctl", "systemctl start kube-apiserver")
    ssh("ctl", f"scancel {waiting}")
    until(all_usable, 120, "both nodes back, without a person")


def test_a_node_that_a_dead_job_left_is_drained_and_the_others_close_again() -> None:
    # a run that is under way would still close the node
    ssh("gpu02", "systemctl stop drawbridge-gate.timer drawbridge-gate.service")
    patch(kube("somebody", "drawbridge:breakglass"), "gpu02", "dirty_vision.99999")
    job = quiet("-N2 -w gpu01,gpu02")
    try:
        until(lambda: "dirty_vision.99999" in comment(job), 60, "the cause in AdminComment")
        assert comment(job).startswith("drawbridge gate: try 1 of 5 (run 0): node gpu02 is not closed")
        assert reason("gpu02").startswith("drawbridge gate: is not closed")
        until(lambda: state("gpu01") == "closed", 60, "the other node closed")
        until(lambda: "BeginTime" in ssh("ctl", f"scontrol show job {job}"), 20, "requeued with a start time")
    finally:
        ssh("ctl", f"scancel {job}")
        ssh("gpu02", "systemctl start drawbridge-gate.timer")
    until(all_usable, 90, "the left node closed itself, our drain lifted")


@pytest.mark.parametrize(
    ("user", "group", "value"),
    [
        ("root", "system:masters", "vision.1"),
        (f"{NODE_SA}:gpu02", f"{NODE_SA.replace('account:', 'accounts:')}", "dirty_vision.1"),
        (f"{NODE_SA}:gpu01", f"{NODE_SA.replace('account:', 'accounts:')}", "vision.1"),
        (f"{GATE_SA}:reconciler", f"{GATE_SA.replace('account:', 'accounts:')}", "vision.1"),
        (f"{GATE_SA}:opener", f"{GATE_SA.replace('account:', 'accounts:')}", "anything"),
        ("system:node:gpu01", "system:nodes", "vision.1"),
    ],
)
def test_nobody_but_the_opener_opens_a_node(user: str, group: str, value: str) -> None:
    with pytest.raises(ApiException) as refused:
        patch(kube(user, group), "gpu01", value)
    assert refused.value.status in (403, 422)
    assert state("gpu01") == "closed"


@pytest.mark.parametrize("account", ["default", "slurm-1-u2001-g3001"])
def test_not_even_an_administrator_puts_a_pod_into_a_jobs_namespace(account: str) -> None:
    spec = {"containers": [{"name": "x", "image": "x"}], "serviceAccountName": account}
    with pytest.raises(ApiException, match=r"made by the job controller|not found"):
        kube().create_namespaced_pod("vision", {"metadata": {"name": "x"}, "spec": spec})


@pytest.mark.parametrize("toleration", [{"operator": "Exists"}, {"key": TAINT, "operator": "Exists"}])
def test_nobody_elsewhere_tolerates_the_taint(toleration: dict[str, str]) -> None:
    spec = {"containers": [{"name": "x", "image": "x"}], "tolerations": [toleration]}
    with pytest.raises(ApiException, match="only infrastructure tolerates"):
        kube().create_namespaced_pod("default", {"metadata": {"name": "x"}, "spec": spec})


def test_a_node_asks_for_no_other_nodes_token() -> None:
    own = kube(f"{NODE_SA}:gpu01", f"{NODE_SA.replace('account:', 'accounts:')}")
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=600))
    assert own.create_namespaced_service_account_token("gpu01", "drawbridge-nodes", request)
    with pytest.raises(ApiException, match="renews its own token"):
        own.create_namespaced_service_account_token("gpu02", "drawbridge-nodes", request)


@pytest.mark.parametrize(("host", "files"), [("ctl", ("opener", "reconciler")), ("gpu01", ("node",))])
def test_hosts_hold_short_tokens_and_no_kubeconfig(host: str, files: tuple[str, ...]) -> None:
    assert ssh(host, "cd /etc/drawbridge/gate && ls *.token").split() == [f"{name}.token" for name in files]
    assert ssh(host, "stat -c %a /etc/drawbridge/gate/*.token").split() == ["400"] * len(files)
    assert "kubernetes-admin" not in ssh(host, "grep -rl client-key-data /etc/drawbridge /run/drawbridge || true")
