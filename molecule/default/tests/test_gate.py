# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One job through the gate: its pods run where and as whom they should, other tenants wait, and nothing is left."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from lab.hosts.paths import REPOSITORY

from .conftest import Lab

NODES = ["gpu01", "gpu02", "gpu03", "gpu04"]
HOME = "/gpfs/fs1/home/ada"
ADA = 2001
POD_PROCESSES = "ps -eo uid=,blocked=,args= | grep JOB_COMPLETION_INDEX | grep -v grep || true"
HER_PROCESSES = "ps -u ada -o args= || true"
"""Pods, batch script, steps and whatever they started; ps that finds none ends with 1."""
HELD_UP = {
    "import array, os, socket, time": "import array, os, signal, socket, time\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2])",
    "raise SystemExit(any(": "signal.sigtimedwait([signal.SIGUSR1], 500)\nraise SystemExit(any(",
}
"""Lines of the example whose pods are to wait for a signal."""
HOLDS = 1 << signal.SIGUSR2 - 1
"""Among blocked signals. A pod shows its arguments before its Python has come to the first line. A program that waits
for a signal does not block that one meanwhile; the other one stays."""
STRANGER = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "stranger", "namespace": "default"},
    "spec": {
        "restartPolicy": "Never",
        "hostNetwork": True,
        "containers": [
            {
                "name": "stranger",
                "image": "docker.io/lab/python:3",
                "imagePullPolicy": "Never",
                "command": ["python3", "-c", "print('across the bridge')"],
                "resources": {"limits": {"nvidia.com/gpu": "1"}},
            }
        ],
    },
}


def stranger(lab: Lab) -> dict[str, Any]:
    return json.loads(lab.kubectl("get", "pod", "stranger", "-o", "json"))


def taints(lab: Lab, nodes: Sequence[str] = NODES) -> dict[str, str]:
    """The gate's taint of gated nodes."""
    found = {}
    for node in json.loads(lab.kubectl("get", "nodes", "-o", "json"))["items"]:
        values = [taint["value"] for taint in node["spec"].get("taints", []) if taint["key"] == "drawbridge.io/slurm"]
        if node["metadata"]["name"] in nodes:
            found[node["metadata"]["name"]] = values[0] if values else "open"
    return found


@dataclass(frozen=True)
class Passage:
    """Observations of one job, from before its start until after its end."""

    job: str
    nodes: list[str]
    held: dict[str, str]
    processes: dict[str, list[str]]
    hers: dict[str, str]
    after: dict[str, str]
    left: dict[str, str]
    output: str
    phases: set[str]
    event: str


@pytest.fixture(scope="module")
def passage(lab: Lab) -> Passage:
    """Send the example through the gate, its pods held up until all is seen, while another tenant's waits outside."""
    lab.kubectl("apply", "-f", "-", stdin=json.dumps(STRANGER))
    script = (REPOSITORY / "examples/allreduce.sbatch").read_text()
    for line, instead in HELD_UP.items():
        assert script.count(line) == 1
        script = script.replace(line, instead)
    submit = f"runuser -u ada -- sbatch --parsable --chdir={HOME} --output={HOME}/%j.out"
    job = lab.ssh("login1", submit, stdin=script).strip()
    phases = set()
    processes: dict[str, list[str]] = {}

    def running() -> bool:
        phases.add(stranger(lab)["status"]["phase"])
        processes.update({node: lab.ssh(node, POD_PROCESSES).splitlines() for node in NODES})
        blocked = [int(line.split()[1].lstrip("<"), 16) for lines in processes.values() for line in lines]
        return len(blocked) >= 2 and all(mask & HOLDS for mask in blocked)

    lab.wait(f"job {job} runs two pods that hold still", running)
    held = taints(lab)
    asked = f"scontrol show hostnames $(squeue -h -j {job} -o %N)"
    nodes = lab.wait("Slurm tells its nodes", lambda: lab.ssh("login1", asked).split())
    hers = {node: lab.ssh(node, HER_PROCESSES) for node in NODES}

    def over() -> bool:
        for node in nodes:
            lab.ssh(node, "pkill -USR1 -u ada -f JOB_COMPLETION_INDEX || true")
        return lab.gone(job)

    lab.wait(f"job {job} ends", over)
    lab.wait("all nodes are closed again", lambda: set(taints(lab).values()) == {"closed"})
    phases.add(stranger(lab)["status"]["phase"])
    return Passage(
        job=job,
        nodes=nodes,
        held=held,
        processes=processes,
        hers=hers,
        after=taints(lab),
        left={node: lab.ssh(node, HER_PROCESSES) for node in NODES},
        output=lab.ssh(nodes[0], f"cat {HOME}/{job}.out"),
        phases=phases,
        event=lab.kubectl("get", "events", "--field-selector", "involvedObject.name=stranger", "-o", "json"),
    )


def test_the_job_gets_two_whole_nodes(passage: Passage) -> None:
    assert len(passage.nodes) == 2
    assert {node for node, owner in passage.held.items() if owner == f"vision.{passage.job}"} == set(passage.nodes)
    assert {owner for node, owner in passage.held.items() if node not in passage.nodes} == {"closed"}


def test_its_pods_are_processes_of_its_user_on_its_nodes_only(passage: Passage) -> None:
    for node, lines in passage.processes.items():
        uids = {int(line.split()[0]) for line in lines}
        assert uids == ({ADA} if node in passage.nodes else set()), passage.processes
    assert {node for node, lines in passage.hers.items() if lines} == set(passage.nodes), passage.hers


def test_the_pods_talked_over_the_network(passage: Passage) -> None:
    assert passage.output.count("with 8 GPUs: sum 3.0, expected 3.0") == 2, passage.output
    assert "Complete, exit codes [0, 0]" in passage.output


def test_nothing_of_the_job_is_left(lab: Lab, passage: Passage) -> None:
    assert set(passage.after.values()) == {"closed"}
    assert set(passage.left.values()) == {""}, passage.left
    objects = lab.kubectl("get", "pods,jobs,serviceaccounts,roles,rolebindings", "-n", "vision", "-o", "name")
    assert f"slurm-{passage.job}-" not in objects
    assert lab.booked(passage.job) == ["COMPLETED", "0:0"]
    for node in passage.nodes:
        assert lab.ssh(node, f"ls /run/drawbridge/jobs/{passage.job} 2>/dev/null || true") == ""


def test_the_pod_of_another_tenant_waits_and_the_log_says_why(lab: Lab, passage: Passage) -> None:
    """Events name no taint since Kubernetes 1.34 (kubernetes#134740: keys may be secrets): the scheduler's log does."""
    assert passage.phases == {"Pending"}
    messages = [item["message"] for item in json.loads(passage.event)["items"]]
    assert any("4 node(s) had untolerated taint" in message for message in messages), messages
    log = lab.ssh("ctl", "journalctl -u kube-scheduler -o cat")
    refused = re.findall(r'pod="default/stranger" node="(\S+)" untoleratedTaint=(\{.*?\})', log)
    assert {node for node, _taint in refused} >= set(NODES), log[-2000:]
    assert {json.loads(taint)["key"] for _node, taint in refused} == {"drawbridge.io/slurm"}


def test_the_same_pod_runs_after_break_glass(lab: Lab, passage: Passage) -> None:
    node = "gpu03"
    person = ("--as=someone", "--as-group=drawbridge:breakglass", "--as-group=system:masters")
    lab.kubectl("taint", "node", node, "drawbridge.io/slurm-", *person)
    try:
        lab.wait("the stranger runs", lambda: stranger(lab)["status"]["phase"] == "Succeeded")
        assert stranger(lab)["spec"]["nodeName"] == node
    finally:
        lab.kubectl("delete", "pod", "stranger")
        lab.kubectl("taint", "node", node, "drawbridge.io/slurm=closed:NoSchedule", *person)
    assert set(taints(lab).values()) == {"closed"}
