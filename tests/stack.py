# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab of LAB_ID with Slurm, Kubernetes and the gate in it: what tests of the gate ask of it and do to it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubernetes import client, config
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from lab import demo
from lab.hosts.paths import REPOSITORY, Paths
from roles.slurm_gate.files.gate.gate_names import BREAKGLASS, CLOSED, TAINT
from tests.waiting import until

PATHS = Paths.of()
CONTROLLER = "ctl"
NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
OVER = {"CANCELLED", "COMPLETED", "FAILED", "NODE_FAIL", "PREEMPTED", "TIMEOUT"}
"""States of jobs that have ended."""
AUDIT = "/var/log/kubernetes-audit.log"
CONFIG = "/etc/drawbridge/gate/config.json"
TIMER = "/run/systemd/system/drawbridge-gate.timer.d/often.conf"
OFTEN = "[Timer]\nOnUnitInactiveSec=\nOnUnitInactiveSec=8s\nOnActiveSec=1s\n"
SHORT = {"patience_s": 12, "empty_s": 8, "pod_grace_s": 2}
"""Limits of the gate that a test can wait for; one request may take ten seconds, and has a second try."""
SHORTEST = {**SHORT, "patience_s": 4, "stuck_s": 15}
"""For tests on demand, on a machine that does nothing else."""
ALLREDUCE = (REPOSITORY / "examples/allreduce.sbatch").read_text()
GHOST = "import os, time; os.open('/dev/nvidia3', os.O_PATH); time.sleep(900)"
"""A process that uses a GPU, as the lab's nvidia-smi sees it."""
SSH_S, LAB_S = 300, 600
"""What commands may take: no test waits so long in one."""
SOCKET = {socket.TCP_NODELAY: 1, socket.TCP_USER_TIMEOUT: 10_000}
"""Options of kept connections: one whose other end lost its power would be silent for a quarter of an hour."""


def ssh(host: str, command: str, text: str = "", check: bool = True) -> str:
    """What a command says on a host of the lab."""
    argv = demo.ssh(PATHS, host, command)
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=check, timeout=SSH_S)
    return done.stdout.strip()


def lab(*words: str) -> None:
    """A verb of the lab, whose hosts came up with kubelets. Whose power it took has ended no connection."""
    argv = [sys.executable, str(REPOSITORY / "lab/lab"), *words]
    subprocess.run(argv, check=True, capture_output=True, env={**os.environ, "LAB_KUBELETS": "joined"}, timeout=LAB_S)
    api_client.cache_clear()


def sbatch(options: str, script: str = "#!/bin/sh\nsleep 3\n", user: str = "ada") -> str:
    """Submit a batch job; its number."""
    return ssh("ctl", f"cd /; runuser -u {user} -- sbatch --parsable --chdir=/home/{user} {options}", script)


def quiet(options: str, script: str = "#!/bin/sh\nsleep 3\n", user: str = "ada") -> str:
    """A job of the gated partition that says nothing."""
    return sbatch(f"-p ai-train --output=/dev/null {options}", script, user)


PATIENT = """#!/bin/sh
listens=/tmp/patient.$SLURM_JOB_ID
trap 'rm $listens; exit 0' USR1
touch $listens
sleep 900 & wait
"""
"""A batch script that ends well when `finish` says so, however long others take to start."""


def patient(job: str, node: str) -> bool:
    """Whether the job's script can get a signal: Slurm calls a job running before its script is."""
    return ssh(node, f"ls /tmp/patient.{job} 2>/dev/null || true") != ""


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


def audited() -> int:
    """How many lines the API server has written into its audit log; one that is not whole yet is none."""
    return int(ssh("ctl", f"wc -l < {AUDIT}"))


def audit(known: int) -> list[str]:
    """The lines that it has written since there were so many."""
    return ssh("ctl", f"head -n $(wc -l < {AUDIT}) {AUDIT} | tail -n +{known + 1}").splitlines()


@functools.lru_cache(maxsize=16)
def api_client(user: str = "", group: str = "system:masters") -> client.ApiClient:
    """The API as the administrator, or as another user with a group; kept, so that a look is no new connection.

    After the API server's restart urllib3 connects anew, silently for reads.
    """
    settings = client.Configuration()
    settings.socket_options = [(socket.IPPROTO_TCP, name, value) for name, value in SOCKET.items()]
    api = config.new_client_from_config(str(PATHS.kubeconfig), client_configuration=settings)
    if user:
        api.set_default_header("Impersonate-User", user)
        api.set_default_header("Impersonate-Group", group)
    return api


def kube(user: str = "", group: str = "system:masters") -> Any:
    """Its core group."""
    return client.CoreV1Api(api_client(user, group))


def states() -> dict[str, str]:
    """The values of the gate's taint; nodes without it are left out."""
    taints = ((node.metadata.name, taint) for node in kube().list_node().items for taint in node.spec.taints or [])
    return {name: taint.value for name, taint in taints if taint.key == TAINT}


def state(node: str) -> str:
    """The value of the gate's taint."""
    return next(taint.value for taint in kube().read_node(node).spec.taints if taint.key == TAINT)


def all_closed(nodes: Sequence[str]) -> bool:
    """Every node is closed; not while the API server has just started and does not answer."""
    try:
        found = states()
    except (ApiException, HTTPError):
        return False
    return all(found.get(node) == CLOSED for node in nodes)


def reasons() -> dict[str, str]:
    """Why Slurm keeps jobs off each of its nodes; empty where it doesn't."""
    rows = [line.split("|", 2) for line in ssh("ctl", "sinfo -h -N -o '%N|%T|%E'").splitlines()]
    return {node: why if kept.startswith(("drain", "down")) else "" for node, kept, why in rows}


def reason(node: str) -> str:
    """Why Slurm keeps jobs off the node; empty if it doesn't."""
    return reasons()[node]


def all_usable(nodes: Sequence[str]) -> bool:
    """Every node is closed, and Slurm gives it away again."""
    if not all_closed(nodes):
        return False
    kept = reasons()
    return not any(kept[node] for node in nodes)


def shown(job: str) -> str:
    """What Slurm shows of a job."""
    return ssh("ctl", f"scontrol show job {job}")


def job_state(job: str) -> str:
    """A job's state in Slurm."""
    return shown(job).partition("JobState=")[2].split()[0]


def comment(job: str) -> str:
    """A job's AdminComment, where the gate says why. In what scontrol shows, a job's own name could forge it."""
    return ssh("ctl", f"squeue -h --states=all --jobs={job} --Format=admin_comment:0").removeprefix("(null)")


def bind(namespace: str, pod: str, node: str) -> None:
    """Give a pod a node as the scheduler does."""
    body = {"metadata": {"name": pod}, "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
    scheduler = kube("system:kube-scheduler", "system:authenticated")
    # the answer is a Status, which the client would take for a Binding; read, it frees the connection
    assert scheduler.create_namespaced_pod_binding(pod, namespace, body, _preload_content=False).data


@contextlib.contextmanager
def api_down() -> Iterator[None]:
    """The API server does not answer meanwhile; it takes writes again afterwards."""
    ssh("ctl", "systemctl stop kube-apiserver")
    try:
        yield
    finally:
        ssh("ctl", "systemctl start kube-apiserver")
        until(admitting, 180, "the API server admits writes")


def admitting() -> bool:
    """It takes writes: until it has read its policies, its admission refuses each of them with 403."""
    try:
        return bool(kube().patch_node("gpu01", {}, dry_run="All"))
    except (ApiException, HTTPError):
        return False


def answering() -> bool:
    """API server and Slurm answer."""
    asked = subprocess.run(demo.ssh(PATHS, "ctl", "squeue -h"), capture_output=True, check=False, timeout=SSH_S)
    try:
        return bool(kube().list_node().items) and not asked.returncode
    except (ApiException, HTTPError):
        return False


def objects(namespace: str) -> list[str]:
    """Names of all that a job can have in a namespace; what the gate makes there carries no label to find it by."""
    core, batch, rights = kube(), client.BatchV1Api(api_client()), client.RbacAuthorizationV1Api(api_client())
    lists: tuple[Any, ...] = (
        core.list_namespaced_pod,
        core.list_namespaced_service_account,
        batch.list_namespaced_job,
        rights.list_namespaced_role,
        rights.list_namespaced_role_binding,
    )
    return [item.metadata.name for ask in lists for item in ask(namespace).items]


def move(api: Any, node: str, value: str) -> None:
    """Write the taint's value, and nothing else. Raises ApiException when that is refused.

    Its place is read first, and another controller's taint may come or go meanwhile.
    """
    place = _place(node)
    while True:
        path, before = f"/spec/taints/{place}", place
        same = {"op": "test", "path": f"{path}/key", "value": TAINT}
        try:
            api.patch_node(node, [same, {"op": "replace", "path": f"{path}/value", "value": value}])
            return
        except ApiException:
            place = _place(node)
            if place == before:
                raise


def _place(node: str) -> int:
    return [taint.key for taint in kube().read_node(node).spec.taints].index(TAINT)


def glass() -> Any:
    """The API as a user who may do what an emergency needs."""
    return kube("somebody", BREAKGLASS)


def pods(namespace: str = "vision", phase: str = "Running", job: str = "") -> list[str]:
    """Names of a namespace's pods, of one job or of all."""
    found = kube().list_namespaced_pod(namespace, label_selector=f"drawbridge.io/slurm-job={job}" if job else "")
    return [pod.metadata.name for pod in found.items if pod.status.phase == phase]


@contextlib.contextmanager
def ghost(node: str) -> Iterator[str]:
    """A process that uses a GPU and belongs to no job; its pid."""
    pid = ssh(node, f'nohup python3 -c "{GHOST}" >/dev/null 2>&1 & echo $!')
    users = "nvidia-smi --query-compute-apps=pid --format=csv,noheader"
    try:
        until(lambda: pid in ssh(node, users).split(), 120, "it uses the GPU")
        yield pid
    finally:
        ssh(node, f"kill {pid}")


@contextlib.contextmanager
def impatient(nodes: Sequence[str], limits: Mapping[str, float] = SHORT) -> Iterator[None]:
    """A gate with limits so short, and timers so quick, that a test can wait for them."""
    hosts = ("ctl", *nodes)
    before = {host: ssh(host, f"cat {CONFIG}") for host in hosts}
    again = "systemctl daemon-reload && systemctl restart drawbridge-gate.timer"
    # a timer or an epilog may read it at any moment; owner and mode stay
    replace = f"cp -p {CONFIG} {CONFIG}.new && cat > {CONFIG}.new && mv {CONFIG}.new {CONFIG}"
    for host in hosts:
        ssh(host, replace, json.dumps({**json.loads(before[host]), **limits}))
        ssh(host, f"mkdir -p {TIMER.rpartition('/')[0]} && cat > {TIMER} && {again}", OFTEN)
    try:
        yield
    finally:
        for host in hosts:
            ssh(host, f"{replace} && rm -f {TIMER} && {again}", before[host])
