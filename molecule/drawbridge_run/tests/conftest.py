# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What these tests share: jobs of users, what they wrote, and objects left of them."""

from __future__ import annotations

import fcntl
import json
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pexpect

from lab.hosts.paths import REPOSITORY
from tests.stack import PATHS, all_usable, job_state, kube, objects, ssh, until

NODES = ("gpu01", "gpu02")
HOME = "/gpfs/fs1/home/{}"
ADA = HOME.format("ada")
IMAGE = "docker.io/lab/python:3"


@contextmanager
def alone_on(*nodes: str) -> Iterator[None]:
    """Files of tests run side by side; those that use the same nodes wait for one another."""
    with ExitStack() as stack:
        for node in nodes:
            lock = stack.enter_context((PATHS.state / f"tests-{node}.lock").open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def terminal(host: str, command: str, size: tuple[int, int] = (24, 80)) -> Iterator[pexpect.spawn]:
    """A command at a terminal of its own."""
    argv = ["-F", str(PATHS.ssh_config), "-tt", host, command]
    child = pexpect.spawn("ssh", argv, dimensions=size, encoding="utf-8", timeout=180)
    try:
        yield child
    finally:
        child.delayafterterminate = 2  # seconds for ssh to die of a signal
        child.terminate(force=True)
        child.close(force=True)


def kubectl(*words: str) -> Any:
    """An administrator's look at objects; kubectl is where the API server is."""
    command = (
        f"umask 077; cat > /run/admin.kubeconfig; kubectl --kubeconfig=/run/admin.kubeconfig {' '.join(words)} -o json"
    )
    return json.loads(ssh("ctl", command, PATHS.kubeconfig.read_text()))


def submit(options: str, line: str, user: str = "ada") -> str:
    """A job of the gated partition with one call of drawbridge-run; its number."""
    script = f"#!/bin/sh\nexec {line}\n" if not line.startswith("#!") else line
    sbatch = f"sbatch --parsable -p ai-train --gres=gpu:h100:8 --time=10 --chdir={HOME.format(user)} {options}"
    return ssh("ctl", f"cd /; runuser -u {user} -- {sbatch} --output={HOME.format(user)}/%j.out", script)


def run(command: str, options: str = "") -> str:
    """A call of drawbridge-run that runs a line of shell."""
    return f"drawbridge-run --image {IMAGE} --pull never {options} -- sh -c '{command}'"


def output(job: str, user: str = "ada") -> str:
    return ssh("gpu01", f"cat {HOME.format(user)}/{job}.out 2>/dev/null || true")


def code(job: str) -> str:
    """State and exit code. sacct would take 128 off codes that stand for a signal."""
    shown = dict(word.split("=", 1) for word in ssh("ctl", f"scontrol show job {job}").split() if "=" in word)
    return f"{shown['JobState']}|{shown['ExitCode']}"


def pods(job: str) -> list[dict[str, Any]]:
    """A job's pods as the API server writes them, by the names of their nodes."""
    label = f"drawbridge.io/slurm-job={job}"
    answer = kube().list_pod_for_all_namespaces(label_selector=label, _preload_content=False)
    return sorted(json.loads(answer.data)["items"], key=lambda pod: pod["spec"].get("nodeName", ""))


def running(job: str) -> int:
    return sum(pod["status"]["phase"] == "Running" for pod in pods(job))


def ended(job: str) -> bool:
    return job_state(job) in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED")


def closed(*names: str) -> bool:
    """The nodes, both if none is named, are closed and in service."""
    return all_usable(names or NODES)


def add_up(options: str = "", limit_s: float = 180) -> str:
    """The example of an all-reduce on both nodes, seen to do its work as the submitting user; the job's number."""
    ssh("gpu01", f"cat > {ADA}/all_reduce.py", (REPOSITORY / "examples/all_reduce.py").read_text())
    ssh("gpu01", f"rm -f {ADA}/sum-*; chown ada:vision {ADA}/all_reduce.py")
    script = (REPOSITORY / "examples/two-nodes.sbatch").read_text()
    assert "--all-logs" in script
    job = submit("", script.replace("--all-logs", f"--all-logs {options}"))
    until(lambda: ended(job), limit_s, "the job ends")
    said = output(job)
    for rank, node in enumerate(NODES):
        assert f"[rank {rank}] rank {rank} on {node} as uid 2001 with 8 GPUs: sum 3.0, expected 3.0" in said, said
    assert code(job) == "COMPLETED|0:0"
    assert ssh("gpu02", f"stat -c '%U:%G %a' {ADA}/sum-0.txt {ADA}/sum-1.txt").split("\n") == ["ada:vision 644"] * 2
    return job


def left_of(job: str) -> list[str]:
    """Names of a job's objects."""
    return [name for name in objects("vision") if name.startswith(f"slurm-{job}-")]


def nothing_left(job: str, *names: str) -> None:
    """Nodes closed and then no pod; nothing else either, whose last trace may go after the nodes are closed."""
    until(lambda: closed(*names), 180, f"{names or NODES} closed")
    assert pods(job) == []
    until(lambda: not left_of(job), 180, f"workload and identity of job {job} are gone")


ASK = """
import json, ssl, sys, urllib.error, urllib.request
home, method, path, body = sys.argv[1:]
gate = dict(line.split("=", 1) for line in open(home + "/env").read().splitlines())
headers = {"Authorization": "Bearer " + open(home + "/token").read(), "Content-Type": "application/json"}
request = urllib.request.Request(gate["DRAWBRIDGE_API_SERVER"] + path, body.encode() or None, headers, method=method)
try:
    context = ssl.create_default_context(cafile=gate["DRAWBRIDGE_CA_FILE"])
    with urllib.request.urlopen(request, context=context, timeout=30) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as err:
    print(err.code, err.read().decode())
"""
"""What a user can do with a token: ask whatever they like."""


def ask(host: str, user: str, job: str, method: str, path: str, body: Any = None) -> tuple[int, str]:
    """The API server's answer to a job's token, used by a user on one of its nodes."""
    words = [f"/run/drawbridge/jobs/{job}", method, path, "" if body is None else json.dumps(body)]
    command = f"cd /; runuser -u {user} -- python3 - {' '.join(map(shlex.quote, words))}"
    status, _, text = ssh(host, command, ASK).partition(" ")
    return int(status), text
