# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Real jobs on a real Slurm open real kubelets, and what else tries does not."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kubernetes import client, config
from kubernetes.client import ApiException

from lab.hosts.paths import REPOSITORY, Paths

PATHS = Paths.of()
NODES = ("gpu01", "gpu02")
TAINT = "drawbridge.io/slurm"
LABEL = "drawbridge.node-restriction.kubernetes.io/slurm-job"
NODE_SA, GATE_SA = "system:serviceaccount:drawbridge-nodes", "system:serviceaccount:drawbridge-gate"


def ssh(host: str, command: str, text: str = "") -> str:
    argv = ["ssh", "-F", str(PATHS.ssh_config), host, command]
    return subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout.strip()


def sbatch(options: str, script: str) -> str:
    return ssh("login1", f"cd /home/ada; runuser -u ada -- sbatch --parsable --chdir=/home/ada {options}", script)


def until(true: Callable[[], bool], timeout_s: float, what: str) -> None:
    deadline = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}"
        time.sleep(0.5)


def kube(user: str = "", *groups: str) -> Any:
    """The API as the administrator, or as somebody else."""
    api = config.new_client_from_config(str(PATHS.kubeconfig))
    if user:
        api.set_default_header("Impersonate-User", user)
        api.set_default_header("Impersonate-Group", groups[0] if groups else "system:masters")
    return client.CoreV1Api(api)


def state(node: str) -> str:
    return next(taint.value for taint in kube().read_node(node).spec.taints if taint.key == TAINT)


def all_closed() -> bool:
    return all(state(node) == "closed" for node in NODES)


def patch(api: Any, node: str, value: str) -> None:
    index = [taint.key for taint in kube().read_node(node).spec.taints].index(TAINT)
    api.patch_node(node, [{"op": "replace", "path": f"/spec/taints/{index}/value", "value": value}])


@pytest.fixture(autouse=True)
def closed_before() -> None:
    until(all_closed, 90, "all nodes closed")


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


def test_two_pods_of_one_job_run_as_its_user_on_its_nodes_and_nobody_elses(outsider: str) -> None:
    script = (REPOSITORY / "examples/allreduce.sbatch").read_text()
    job = sbatch("--wait --output=/home/ada/%j.out", script)
    said = ssh("gpu01", f"cat /home/ada/{job}.out")
    for rank in (0, 1):
        assert f"rank {rank} on gpu0" in said
    assert said.count("as uid 2001 with 8 GPUs: sum 3.0, expected 3.0") == 2
    until(all_closed, 60, "nodes closed after their job")
    accounts = [account.metadata.name for account in kube().list_namespaced_service_account("vision").items]
    assert not [name for name in accounts if name.startswith("slurm-")]
    assert not kube().list_namespaced_pod("vision").items
    pod = kube().read_namespaced_pod("nosy", outsider)
    assert (pod.status.phase, pod.spec.node_name) == ("Pending", None)
    assert "untolerated taint" in pod.status.conditions[0].message
    assert not ssh("gpu01", f"ls /run/drawbridge/jobs/{job} 2>/dev/null || true")


def test_a_job_of_another_partition_leaves_its_nodes_closed() -> None:
    job = sbatch("-p hpc -N1 -w gpu01 --output=/dev/null", "#!/bin/sh\nsleep 3\n")
    until(lambda: ssh("ctl", f"squeue -h -j {job} -o %T") == "RUNNING", 30, "the job runs")
    assert all_closed()
    ssh("ctl", f"scancel {job}")


def test_a_cancelled_job_takes_its_pods_along() -> None:
    script = (
        (REPOSITORY / "examples/allreduce.sbatch").read_text().replace("import array", "import time; time.sleep(600)")
    )
    job = sbatch("--output=/dev/null", script)
    pods = kube()
    until(lambda: len(running(pods)) == 2, 60, "both pods run")
    assert {state(node) for node in NODES} == {f"vision.{job}"}
    ssh("ctl", f"scancel {job}")
    until(all_closed, 60, "nodes closed")
    assert not pods.list_namespaced_pod("vision").items
    for node in NODES:
        assert not ssh(node, "pgrep -u ada -f JOB_COMPLETION_INDEX || true")


def running(api: Any) -> list[str]:
    return [pod.metadata.name for pod in api.list_namespaced_pod("vision").items if pod.status.phase == "Running"]


def test_a_node_that_a_dead_job_left_is_drained_and_the_others_close_again() -> None:
    ssh("gpu02", "systemctl stop drawbridge-gate.timer")
    patch(kube("somebody", "drawbridge:breakglass"), "gpu02", "dirty_vision.99999")
    job = sbatch("-p ai-train -N2 -w gpu01,gpu02 --output=/dev/null", "#!/bin/sh\ntrue\n")
    try:
        until(lambda: "dirty_vision.99999" in ssh("ctl", f"scontrol show job {job}"), 100, "the cause in AdminComment")
        assert ssh("ctl", "sinfo -h -n gpu02 -o %E").splitlines()[0].startswith("drawbridge gate: is not closed")
        until(lambda: state("gpu01") == "closed", 60, "the other node closed")
    finally:
        ssh("ctl", f"scancel {job}")
        ssh("gpu02", "systemctl start drawbridge-gate.timer")
    until(all_closed, 60, "the left node closed itself")
    until(lambda: ssh("ctl", "sinfo -h -n gpu02 -o %E").splitlines()[0] == "none", 30, "our drain lifted")


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
