# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Pods of a Slurm job, beside slurmd: each has its own CPUs, memory and GPU, and a restart of either daemon ends none.

These tests come last: an emulated processor has little left beside a kubelet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client

from roles.slurm_gate.files.gate.gate_names import CLOSED, JOB_LABEL
from tests import stack
from tests.isolation.node import LAB, NODE, PATIENCE_S, PROBE, RESERVED, Facts, end, here, slurm
from tests.isolation.test_jobs import BOTH, GREEDY
from tests.waiting import until

pytestmark = pytest.mark.live
NAMESPACE = "vision"
MEMORY_MIB = 300
PROGRAM = f"""{PROBE}
import signal
def take(*_unused):
    {GREEDY}
signal.signal(signal.SIGUSR1, take)
while True:
    signal.pause()
"""
"""Prints its limits, waits, and takes too much on SIGUSR1."""
CHANGES = {
    stack.COMMAND: json.dumps(["python3", "-c", PROGRAM]),
    'gate["DRAWBRIDGE_POD_GPUS"]': '"1"',
    'gate["DRAWBRIDGE_POD_CPUS"]': '"1"',
    'gate["DRAWBRIDGE_POD_MEMORY"]': f'"{MEMORY_MIB}Mi"',
    '"completions": len(nodes), "parallelism": len(nodes)': '"completions": 2, "parallelism": 2',
    '"backoffLimit": 0': '"backoffLimit": 1000',
}
"""Two pods on the node instead of one, and a pod that fails ends no other."""


def script() -> str:
    """The example's batch script, with other pods."""
    text = stack.ALLREDUCE
    for old, new in CHANGES.items():
        assert old in text
        text = text.replace(old, new)
    return text


def pods(job: str) -> list[Any]:
    """The job's pods that have not ended."""
    found = stack.kube().list_namespaced_pod(NAMESPACE, label_selector=f"{JOB_LABEL}={job}").items
    return [pod for pod in found if pod.status.phase in ("Pending", "Running")]


def running(job: str) -> list[Any]:
    """Both pods, as soon as both have said what they may use."""
    both = [pod for pod in pods(job) if pod.status.phase == "Running"]
    return both if len(both) == 2 and all(said(pod) for pod in both) else []


def said(pod: Any) -> str:
    return stack.kube().read_namespaced_pod_log(pod.metadata.name, NAMESPACE)


def processes() -> dict[str, list[str]]:
    """What the kernel has of the pods' processes: their CPUs and their control group's limit, by pid."""
    found = {}
    for pid in here("pgrep --full '^python3 -c.*SIGUSR1'").split():
        group = "$(cut -d: -f3 /proc/$pid/cgroup)"
        read = f"pid={pid}; grep Cpus_allowed_list /proc/$pid/status; cat /sys/fs/cgroup{group}/memory.max"
        found[pid] = here(read).split()[1:]
    return found


@pytest.fixture(scope="module", autouse=True)
def kubelet() -> None:
    """The whole site, with the node's Kubernetes."""
    done = LAB.playbook("site")
    assert done.code == 0, done.output
    until(lambda: stack.states().get(NODE) == CLOSED, PATIENCE_S, "the node is closed")


@pytest.fixture(scope="module")
def job(kubelet: None) -> Iterator[str]:
    """A job of the partition that may use Kubernetes, with two pods."""
    options = "--partition=train --nodes=1 --gres=gpu:h100:2 --time=120 --output=/tmp/pods-%j"
    number = slurm(f"sbatch --parsable {options}", script())
    try:
        until(lambda: running(number), PATIENCE_S, "both pods run")
        yield number
    finally:
        end(number)


def test_kubernetes_keeps_the_reserved_cpus_and_memory_from_pods() -> None:
    given = stack.kube().read_node(NODE).status
    assert int(given.capacity["cpu"]) - int(given.allocatable["cpu"]) == len(RESERVED)
    kept = [int(part["memory"].removesuffix("Ki")) for part in (given.capacity, given.allocatable)]
    assert kept[0] - kept[1] == 1024 << 10


def test_each_pod_has_its_own_cpu_memory_and_gpu(job: str) -> None:
    one, other = (Facts(json.loads(said(pod).splitlines()[0])) for pod in running(job))
    for facts in (one, other):
        assert (facts["memory_mib"], facts["swap"], facts["user"]) == (MEMORY_MIB, 0, 2001)
        assert facts["cpus"] == facts["given"]
    assert sorted([*one["cpus"], *other["cpus"]]) == [1, 2]
    assert sorted([*one["gpus"], *other["gpus"]]) == BOTH
    assert len(one["gpus"]) == 1


@pytest.mark.parametrize("event", ["restart kubelet", "restart slurmd", "daemon-reload", "restart containerd"])
def test_a_restart_ends_no_pod_and_no_step(job: str, event: str) -> None:
    before, known, steps = processes(), counted(job), here(f"scontrol listpids {job}")
    assert len(before) == len(known) == 2
    started = since()
    here(f"systemctl {event}")
    renewed = lease()
    until(lambda: event != "restart slurmd" or since() != started, PATIENCE_S, "another slurmd has registered")
    until(lambda: lease() != renewed and running(job), PATIENCE_S, "the kubelet serves its pods since")
    assert slurm(f"sinfo --noheader --nodes={NODE} --format=%T") == "allocated"
    assert here("systemctl is-active kubelet slurmd containerd").split() == ["active"] * 3
    assert processes() == before
    assert here(f"scontrol listpids {job}") == steps
    assert counted(job) == known


def counted(job: str) -> dict[str, int]:
    """How often the container of each pod has been started again, by the pod's uid."""
    return {pod.metadata.uid: pod.status.container_statuses[0].restart_count for pod in pods(job)}


def since() -> str:
    """When slurmd was started, as Slurm knows it."""
    return slurm(f"scontrol show node {NODE}").partition("SlurmdStartTime=")[2].split()[0]


def lease() -> Any:
    """When the kubelet last said that it is there."""
    leases: Any = client.CoordinationV1Api(stack.api_client())
    return leases.read_namespaced_lease(NODE, "kube-node-lease").spec.renew_time


def test_a_pod_that_takes_more_memory_than_its_own_is_killed_alone(job: str) -> None:
    greedy, other = processes()
    here(f"kill -USR1 {greedy}")
    until(lambda: greedy not in processes(), PATIENCE_S, "it is killed")
    assert other in processes()
    assert f"Memory cgroup out of memory: Killed process {greedy}" in here("dmesg")
    until(lambda: running(job), PATIENCE_S, "another pod takes its place")


def test_the_job_s_end_ends_its_pods_and_closes_the_node(job: str) -> None:
    end(job)
    until(lambda: not processes_left(), PATIENCE_S, "no process of a pod is left")
    until(lambda: stack.states().get(NODE) == CLOSED, PATIENCE_S, "the node is closed")
    until(lambda: slurm(f"sinfo --noheader --nodes={NODE} --format=%T") == "idle", PATIENCE_S, "Slurm has it back")


def processes_left() -> str:
    return here("pgrep --full '^python3 -c.*SIGUSR1' || true")
