# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab of LAB_ID with Slurm, Kubernetes and the gate in it: what tests of the gate ask of it and do to it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kubernetes import client, config
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from lab import demo
from lab.hosts.paths import REPOSITORY, Paths
from roles.slurm_gate.files.gate.gate_names import BREAKGLASS, CLOSED, TAINT

PATHS = Paths.of()
AUDIT = "/var/log/kubernetes-audit.log"
CONFIG = "/etc/drawbridge/gate/config.json"
TIMER = "/run/systemd/system/drawbridge-gate.timer.d/often.conf"
OFTEN = "[Timer]\nOnUnitInactiveSec=\nOnUnitInactiveSec=4s\nOnActiveSec=1s\n"
SHORT = {"patience_s": 4, "empty_s": 8, "pod_grace_s": 2, "stuck_s": 15}
"""Limits of the gate that a test can wait for."""
ALLREDUCE = (REPOSITORY / "examples/allreduce.sbatch").read_text()
GHOST = "import os, time; os.open('/dev/nvidia3', os.O_PATH); time.sleep(900)"
"""A process that uses a GPU, as the lab's nvidia-smi sees it."""


def ssh(host: str, command: str, text: str = "", check: bool = True) -> str:
    """What a command says on a host of the lab."""
    argv = demo.ssh(PATHS, host, command)
    return subprocess.run(argv, input=text, capture_output=True, text=True, check=check).stdout.strip()


def lab(*words: str) -> None:
    """A verb of the lab, whose hosts came up with kubelets."""
    argv = [sys.executable, str(REPOSITORY / "lab/lab"), *words]
    subprocess.run(argv, check=True, capture_output=True, env={**os.environ, "LAB_KUBELETS": "joined"})


def sbatch(options: str, script: str = "#!/bin/sh\nsleep 3\n", user: str = "ada") -> str:
    """Submit a batch job; its number."""
    return ssh("ctl", f"cd /; runuser -u {user} -- sbatch --parsable --chdir=/home/{user} {options}", script)


def quiet(options: str, script: str = "#!/bin/sh\nsleep 3\n", user: str = "ada") -> str:
    """A job of the gated partition that says nothing."""
    return sbatch(f"-p ai-train --output=/dev/null {options}", script, user)


PATIENT = "#!/bin/sh\ntrap 'exit 0' USR1\nsleep 900 & wait\n"
"""A batch script that ends well when `finish` says so, however long others take to start."""


def finish(*jobs: str) -> None:
    """Let jobs with that script come to their end."""
    ssh("ctl", f"scancel --batch --signal=USR1 {' '.join(jobs)}")


COMMAND = '["python3", "-c", PROGRAM]'


def pods_for(seconds: str, stubborn: bool = False) -> str:
    """The example with pods that only wait. `seconds` is an expression that the batch script evaluates."""
    assert COMMAND in ALLREDUCE
    waits = f'["python3", "-c", f"import time; time.sleep({{{seconds}}})"]'
    script = ALLREDUCE.replace(COMMAND, waits)
    return script.replace('"backoffLimit": 0', '"backoffLimit": 1000') if stubborn else script


def until(true: Callable[[], Any], timeout_s: float, what: str) -> float:
    """Seconds until it was true."""
    begun = time.monotonic()
    while not true():
        assert time.monotonic() < begun + timeout_s, f"not within {timeout_s} s: {what}"
        time.sleep(0.5)
    return time.monotonic() - begun


def audited() -> int:
    """How much the API server has written into its audit log."""
    return int(ssh("ctl", f"stat -c %s {AUDIT}"))


def audit(offset: int) -> list[str]:
    """What it has written since then."""
    return ssh("ctl", f"tail -c +{offset + 1} {AUDIT}").splitlines()


def api_client(user: str = "", *groups: str) -> client.ApiClient:
    """The API as the administrator, or as somebody else."""
    api = config.new_client_from_config(str(PATHS.kubeconfig))
    if user:
        api.set_default_header("Impersonate-User", user)
        api.set_default_header("Impersonate-Group", groups[0] if groups else "system:masters")
    return api


def kube(user: str = "", *groups: str) -> Any:
    """Its core group."""
    return client.CoreV1Api(api_client(user, *groups))


def state(node: str) -> str:
    """The value of the gate's taint."""
    return next(taint.value for taint in kube().read_node(node).spec.taints if taint.key == TAINT)


def all_closed(nodes: Sequence[str]) -> bool:
    """Every node is closed; not while the API server has just started and does not answer."""
    try:
        return all(state(node) == CLOSED for node in nodes)
    except (ApiException, HTTPError):
        return False


def reason(node: str) -> str:
    """Why Slurm keeps jobs off the node; empty if it doesn't."""
    said = ssh("ctl", f"sinfo -h -n {node} -o '%T|%E'").splitlines()[0].partition("|")
    return said[2] if said[0].startswith(("drain", "down")) else ""


def all_usable(nodes: Sequence[str]) -> bool:
    """Every node is closed, and Slurm gives it away again."""
    return all_closed(nodes) and not any(reason(node) for node in nodes)


def shown(job: str) -> str:
    """What Slurm shows of a job."""
    return ssh("ctl", f"scontrol show job {job}")


def job_state(job: str) -> str:
    """A job's state in Slurm."""
    return shown(job).partition("JobState=")[2].split()[0]


def comment(job: str) -> str:
    """A job's AdminComment, where the gate says why."""
    return shown(job).partition("AdminComment=")[2].partition("\n")[0]


def bind(namespace: str, pod: str, node: str) -> None:
    """Give a pod a node as the scheduler does."""
    body = {"metadata": {"name": pod}, "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
    scheduler = kube("system:kube-scheduler", "system:authenticated")
    # the answer is a Status, which the client would take for a Binding
    scheduler.create_namespaced_pod_binding(pod, namespace, body, _preload_content=False)


@contextlib.contextmanager
def api_down() -> Iterator[None]:
    """The API server does not answer meanwhile; it does again afterwards."""
    ssh("ctl", "systemctl stop kube-apiserver")
    try:
        yield
    finally:
        ssh("ctl", "systemctl start kube-apiserver")


def answering() -> bool:
    """API server and Slurm answer."""
    asked = subprocess.run(demo.ssh(PATHS, "ctl", "squeue -h"), capture_output=True, check=False)
    try:
        return bool(kube().list_node().items) and not asked.returncode
    except (ApiException, HTTPError):
        return False


def left_behind(namespaces: Sequence[str], nodes: Sequence[str]) -> list[str]:
    """What is there of jobs once none is left: objects of theirs, tokens, containers. Empty if all is well."""
    core, batch, rights = kube(), client.BatchV1Api(api_client()), client.RbacAuthorizationV1Api(api_client())
    lists: tuple[Any, ...] = (
        core.list_namespaced_pod,
        core.list_namespaced_service_account,
        batch.list_namespaced_job,
        rights.list_namespaced_role,
        rights.list_namespaced_role_binding,
    )
    objects = [item.metadata.name for space in namespaces for ask in lists for item in ask(space).items]
    found = [name for name in objects if name.startswith("slurm-")]
    living = "ls /run/drawbridge/jobs 2>/dev/null; pgrep -f '[t]ime.sleep' || true"
    return found + [f"{node}: {line}" for node in nodes for line in ssh(node, living).splitlines()]


def move(api: Any, node: str, value: str) -> None:
    """Write the taint's value, and nothing else."""
    index = [taint.key for taint in kube().read_node(node).spec.taints].index(TAINT)
    api.patch_node(node, [{"op": "replace", "path": f"/spec/taints/{index}/value", "value": value}])


def glass() -> Any:
    """The API as somebody who may do what an emergency needs."""
    return kube("somebody", BREAKGLASS)


def pods(namespace: str = "vision", phase: str = "Running", job: str = "") -> list[str]:
    """Names of a namespace's pods, of one job or of all."""
    found = kube().list_namespaced_pod(namespace, label_selector=f"drawbridge.io/slurm-job={job}" if job else "")
    return [pod.metadata.name for pod in found.items if pod.status.phase == phase]


@contextlib.contextmanager
def ghost(node: str) -> Iterator[str]:
    """A process that uses a GPU and belongs to no job; its pid."""
    pid = ssh(node, f'nohup python3 -c "{GHOST}" >/dev/null 2>&1 & echo $!')
    try:
        yield pid
    finally:
        ssh(node, f"kill {pid}")


@contextlib.contextmanager
def impatient(nodes: Sequence[str]) -> Iterator[None]:
    """A gate with limits so short, and timers so quick, that a test can wait for them."""
    hosts = ("ctl", *nodes)
    before = {host: ssh(host, f"cat {CONFIG}") for host in hosts}
    again = "systemctl daemon-reload && systemctl restart drawbridge-gate.timer"
    for host in hosts:
        ssh(host, f"cat > {CONFIG}", json.dumps({**json.loads(before[host]), **SHORT}))
        ssh(host, f"mkdir -p {TIMER.rpartition('/')[0]} && cat > {TIMER} && {again}", OFTEN)
    try:
        yield
    finally:
        for host in hosts:
            ssh(host, f"cat > {CONFIG} && rm -f {TIMER} && {again}", before[host])


@contextlib.contextmanager
def outsiders(name: str = "outsider", count: int = 2) -> Iterator[str]:
    """A third tenant, whose controller makes pods again as often as they go; they wait for any node."""
    core: Any = kube()
    apps: Any = client.AppsV1Api(api_client())
    core.create_namespace({"metadata": {"name": name}})
    labels = {"app": "nosy"}
    container = {"name": "nosy", "image": "docker.io/lab/pause:1", "imagePullPolicy": "Never"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": count, "selector": {"matchLabels": labels}, "template": template}
    apps.create_namespaced_deployment(name, {"metadata": {"name": "nosy"}, "spec": spec})
    until(lambda: len(pods(name, "Pending")) == count, 30, "the third tenant's pods wait")
    try:
        yield name
    finally:
        core.delete_namespace(name)
