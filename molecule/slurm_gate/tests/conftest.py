# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What tests of the gate share: jobs, nodes as Kubernetes and as Slurm see them, and a gate that does not wait long."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kubernetes import client, config
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from lab.hosts.paths import REPOSITORY, Paths

PATHS = Paths.of()
NODES = ("gpu01", "gpu02")
TAINT = "drawbridge.io/slurm"
CONFIG = "/etc/drawbridge/gate/config.json"
ALLREDUCE = (REPOSITORY / "examples/allreduce.sbatch").read_text()
GHOST = "import os, time; os.open('/dev/nvidia3', os.O_PATH); time.sleep(900)"
"""A process that uses a GPU, as the lab's nvidia-smi sees it."""


def ssh(host: str, command: str, text: str = "") -> str:
    argv = ["ssh", "-F", str(PATHS.ssh_config), host, command]
    return subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout.strip()


def sbatch(options: str, script: str = "#!/bin/sh\nsleep 3\n") -> str:
    return ssh("ctl", f"cd /; runuser -u ada -- sbatch --parsable --chdir=/home/ada {options}", script)


def quiet(options: str, script: str = "#!/bin/sh\nsleep 3\n") -> str:
    """A job of the gated partition that says nothing."""
    return sbatch(f"-p ai-train --output=/dev/null {options}", script)


def job_state(job: str) -> str:
    return ssh("ctl", f"scontrol show job {job}").partition("JobState=")[2].split()[0]


def comment(job: str) -> str:
    return ssh("ctl", f"scontrol show job {job}").partition("AdminComment=")[2].partition("\n")[0]


def reason(node: str) -> str:
    """Why Slurm keeps jobs off the node; empty if it doesn't."""
    said = ssh("ctl", f"sinfo -h -n {node} -o '%T|%E'").splitlines()[0].partition("|")
    return said[2] if said[0].startswith(("drain", "down")) else ""


def until(true: Callable[[], Any], timeout_s: float, what: str) -> float:
    """Seconds until it was true."""
    begun = time.monotonic()
    while not true():
        assert time.monotonic() < begun + timeout_s, f"not within {timeout_s} s: {what}"
        time.sleep(0.5)
    return time.monotonic() - begun


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
    """Every node is closed; not while the API server has just started and does not answer."""
    try:
        return all(state(node) == "closed" for node in NODES)
    except (ApiException, HTTPError):
        return False


def all_usable() -> bool:
    """Every node is closed, and Slurm gives it away again."""
    return all_closed() and not any(reason(node) for node in NODES)


def patch(api: Any, node: str, value: str) -> None:
    index = [taint.key for taint in kube().read_node(node).spec.taints].index(TAINT)
    api.patch_node(node, [{"op": "replace", "path": f"/spec/taints/{index}/value", "value": value}])


def pods(phase: str = "Running") -> list[str]:
    return [pod.metadata.name for pod in kube().list_namespaced_pod("vision").items if pod.status.phase == phase]


@contextlib.contextmanager
def ghost(node: str) -> Iterator[str]:
    """A process that uses a GPU and belongs to no job; its pid."""
    pid = ssh(node, f'nohup python3 -c "{GHOST}" >/dev/null 2>&1 & echo $!')
    try:
        yield pid
    finally:
        ssh(node, f"kill {pid}")


def said(host: str) -> list[dict[str, Any]]:
    """What the gate logged there, this boot."""
    return [json.loads(line) for line in ssh(host, "journalctl -b -t drawbridge-gate -o cat").splitlines()]


TIMER = "/run/systemd/system/drawbridge-gate.timer.d/often.conf"


@pytest.fixture(scope="module", autouse=True)
def impatient() -> Iterator[None]:
    """Limits so short, and timers so quick, that a test can wait for them."""
    short = {"patience_s": 4, "empty_s": 8, "pod_grace_s": 2, "stuck_s": 15}
    hosts = ("ctl", *NODES)
    before = {host: ssh(host, f"cat {CONFIG}") for host in hosts}
    again = "systemctl daemon-reload && systemctl restart drawbridge-gate.timer"
    for host in hosts:
        ssh(host, f"cat > {CONFIG}", json.dumps({**json.loads(before[host]), **short}))
        often = "[Timer]\nOnUnitInactiveSec=\nOnUnitInactiveSec=4s\nOnActiveSec=1s\n"
        ssh(host, f"mkdir -p {TIMER.rpartition('/')[0]} && cat > {TIMER} && {again}", often)
    yield
    for host in hosts:
        ssh(host, f"cat > {CONFIG} && rm -f {TIMER} && {again}", before[host])


@pytest.fixture(autouse=True)
def usable_before() -> None:
    until(all_usable, 120, "all nodes closed and in service")
