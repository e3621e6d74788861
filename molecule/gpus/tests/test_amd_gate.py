# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate on a node with eight MI300X: pods get AMD's resource, and the driver's list of processes is the proof.

The lab's files of the kernel can't be written. In the place of that list is a folder that can.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lab.machine import amd
from tests import stack
from tests.running import Lab
from tests.stack import PATHS, all_usable, job_state, kube, pods, reason, sbatch, ssh, state, until

NODE = "amd01"
LISTED = "/sys/class/kfd/kfd/proc"
CHECKPOINT = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
GRES = "--gres=gpu:mi300x"
PODS = """#!/bin/sh
exec drawbridge-run --image docker.io/lab/python:3 --pull never --grace 1 --workdir / -- sleep 3600
"""
WAIT_S = 180


def usable() -> bool:
    return all_usable((NODE,))


@pytest.fixture(scope="module")
def impatient() -> Iterator[None]:
    """Limits so short, and timers so quick, that a test can wait for them."""
    with stack.impatient((NODE,)):
        yield


@pytest.fixture
def job(impatient: None) -> Iterator[str]:
    """A gated job of ada's, whose pod runs."""
    until(usable, WAIT_S, "the node is closed and in service")
    number = sbatch(f"-p accel -N1 {GRES}:8 --no-requeue --output=/tmp/%j.out", PODS)
    try:
        until(lambda: pods(job=number), WAIT_S, "its pod runs")
        yield number
    finally:
        ssh("ctl", f"scancel {number}")
    until(usable, WAIT_S, "the node is closed and in service again")


@contextmanager
def on_gpus() -> Iterator[str]:
    """A process of no job that the driver lists; its pid."""
    pid = ssh(NODE, "nohup sleep 3600 >/dev/null 2>&1 & echo $!")
    ssh(NODE, f"mount -t tmpfs none {LISTED} && mkdir {LISTED}/{pid}")
    try:
        yield pid
    finally:
        ssh(NODE, f"kill {pid} 2>/dev/null; umount {LISTED}")


def test_a_second_run_of_the_whole_site_changes_nothing() -> None:
    run = Lab(PATHS, ("molecule/gpus/inventory",)).playbook("site")
    assert run.code == 0, run.output
    assert (run.changed(), run.steps()) == ([], {})


def test_only_the_node_of_the_gated_partition_is_a_member_and_is_closed() -> None:
    assert {node.metadata.name for node in kube().list_node().items} == {NODE, "infra1"}
    assert state(NODE) == "closed"
    assert kube().read_node(NODE).status.allocatable["amd.com/gpu"] == "8"


def test_a_pod_of_a_gated_job_has_all_gpus_by_their_vendors_name(job: str) -> None:
    (pod,) = kube().list_namespaced_pod("vision", label_selector=f"drawbridge.io/slurm-job={job}").items
    (container,) = pod.spec.containers
    assert pod.spec.node_name == NODE and state(NODE) == f"vision.{job}"
    assert {name: it for name, it in container.resources.limits.items() if name.endswith("gpu")} == {"amd.com/gpu": "8"}
    noted = json.loads(ssh(NODE, f"cat {CHECKPOINT}"))["Data"]["PodDeviceEntries"]
    (given,) = (it for it in noted if (it["PodUID"], it["ResourceName"]) == (pod.metadata.uid, "amd.com/gpu"))
    near = {"0": range(4), "1": range(4, 8)}
    assert {numa: sorted(ids) for numa, ids in given["DeviceIDs"].items()} == {
        numa: [amd.address(gpu) for gpu in gpus] for numa, gpus in near.items()
    }


def test_a_process_that_a_job_leaves_keeps_the_node_dirty_until_the_driver_has_forgotten_it(job: str) -> None:
    with on_gpus() as pid:
        ssh("ctl", f"scancel {job}")
        until(lambda: f"process {pid} (sleep) uses a GPU: end it" in reason(NODE), WAIT_S, "drained, with the cause")
        assert state(NODE) == f"dirty_vision.{job}"
        assert not pods(job=job)
        ssh(NODE, f"kill {pid}")
        until(
            lambda: f"still lists process {pid}, which has ended: wait" in reason(NODE),
            WAIT_S,
            "its memory there is not free yet",
        )
        assert state(NODE) == f"dirty_vision.{job}"
        ssh(NODE, f"rmdir {LISTED}/{pid}")
        until(usable, WAIT_S, "closed and in service, without a person")


def test_a_job_without_pods_does_not_start_beside_such_a_process(impatient: None) -> None:
    until(usable, WAIT_S, "the node is closed and in service")
    with on_gpus() as pid:
        number = sbatch(f"-p share -N1 {GRES}:1 --output=/dev/null")
        told = f"drawbridge gate: process {pid} (sleep) uses a GPU: end it"
        until(lambda: reason(NODE) == told, WAIT_S, "drained, with the cause")
        until(lambda: job_state(number) == "PENDING", WAIT_S, "its prolog sent it back")
        ssh("ctl", f"scancel {number}")
    until(usable, WAIT_S, "in service, without a person")
