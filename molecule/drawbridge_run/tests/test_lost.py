# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that fails its pod. gpu01 has its own tests meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stack import ssh, until

from .conftest import alone_on, closed, code, ended, kubectl, nothing_left, output, run, running, submit

NODE = "gpu02"
HERE = f"-N1 -w {NODE}"
SANDBOX = "docker.io/lab/pause:1"
DEVICES = {"nvidia.com/gpu": "8"} | {f"rdma/rail{number}": "63" for number in range(8)}


@pytest.fixture(scope="module", autouse=True)
def lane() -> Iterator[None]:
    with alone_on(NODE):
        yield


@pytest.fixture(autouse=True)
def free_node() -> None:
    until(lambda: closed(NODE), 180, f"{NODE} closed and in service")


def offered() -> dict[str, str]:
    """What the node has for pods."""
    found = kubectl("get", "node", NODE)["status"]["allocatable"]
    return {name: found.get(name, "0") for name in DEVICES}


def test_pods_without_room_are_reported() -> None:
    """As if the devices' plugin had gone."""
    until(lambda: offered() == DEVICES, 180, "all devices are offered")
    ssh(NODE, "systemctl stop lab-device-plugin")
    try:
        until(lambda: offered()["nvidia.com/gpu"] == "0", 180, "no GPUs are offered")
        job = submit(HERE, run("true", "--patience 30"))
        until(lambda: ended(job), 180, "the job ends")
    finally:
        ssh(NODE, "systemctl start lab-device-plugin")
        until(lambda: offered() == DEVICES, 180, "all devices are offered again")
    assert "a pod gets none of the job's nodes:" in output(job)
    assert "Insufficient nvidia.com/gpu" in output(job)
    assert code(job) == "FAILED|125:0"


def test_a_node_that_makes_no_sandbox_is_reported_in_time() -> None:
    """As where the sandboxes' image can't be pulled, of which the pod itself says nothing."""
    ssh(NODE, f"ctr --namespace k8s.io images rm {SANDBOX}")
    try:
        job = submit(HERE, run("true", "--patience 30"))
        until(lambda: ended(job), 180, "the job ends")
    finally:
        ssh(NODE, "systemctl restart lab-images")
        until(lambda: SANDBOX in ssh(NODE, "ctr --namespace k8s.io images ls -q"), 180, "the image is back")
    assert f"rank 0 on {NODE} does not start (FailedCreatePodSandBox): " in output(job)
    assert code(job) == "FAILED|125:0"
    nothing_left(job, NODE)


def test_a_lost_node_ends_the_job() -> None:
    """The kubelet dies; Slurm's half of the node lives on, and the gate can't prove it empty before it is back."""
    job = submit(HERE, run("exec sleep 600", "--grace 1"))
    until(lambda: running(job) == 1, 180, "the pod runs")
    lost = f"rank 0 on {NODE} is lost: its node's kubelet does not report"
    ssh(NODE, "systemctl stop kubelet")
    try:
        until(lambda: output(job).count(lost) == 2, 600, "said when it is seen, and again when it stays so")
    finally:
        ssh(NODE, "systemctl start kubelet")
    until(lambda: ended(job), 180, "the job ends")
    assert code(job) == "FAILED|125:0"
    nothing_left(job, NODE)
