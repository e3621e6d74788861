# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A world in memory: an API server with the answers of the real one, a Slurm, a host, and a clock that never waits."""

from __future__ import annotations

import base64
import contextlib
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonpatch

from roles.slurm_gate.files.gate.api import Answer, Api, Unreachable
from roles.slurm_gate.files.gate.clock import Clock
from roles.slurm_gate.files.gate.command import Commands, Result
from roles.slurm_gate.files.gate.config import Config, Job
from roles.slurm_gate.files.gate.gate_names import JOB_LABEL, LABEL, TAINT
from roles.slurm_gate.files.gate.host import Host
from roles.slurm_gate.files.gate.log import Log
from roles.slurm_gate.files.gate.notes import Notes
from roles.slurm_gate.files.gate.slurm import JobInfo, NoAnswer, NodeInfo, Running, Slurm
from roles.slurm_gate.files.gate.states import Owner, gate_taint
from roles.slurm_gate.files.gate.world import World

JOB = Job(Owner("vision", 4711), 2001, 3001, ("gpu01", "gpu02"), restart=0, started=1000)
RUNNING = JobInfo(
    *("RUNNING", True, True), age_s=10, batch_host="gpu01", nodes=JOB.nodes, partition="ai-train", uid=JOB.uid
)
CONFIG = {
    "api_server": "https://api:6443",
    "ca_file": "/ca.crt",
    "partitions": ["ai-train"],
    "partition_nodes": {"ai-train": "gpu[01-04]"},
    "namespaces": {"vision": "vision"},
    "infra_namespaces": ["kube-system", "drawbridge-gate", "drawbridge-nodes"],
    "patience_s": 60,
    "empty_s": 90,
    "pod_grace_s": 10,
    "stuck_s": 120,
    "tries": 5,
    "runtime": "ctr",
    "gpu_daemons": [],
    "metrics": "/nowhere/gate.prom",
    "pod_limits": {"gpus": "8"},
    "gpu_proof": {
        "devices": "/dev/nvidia",
        "major": 195,
        "minors_below": 254,
        "processes": ["nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"],
    },
}
ENVIRONMENT = {
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_PARTITION": "ai-train",
    "SLURM_JOB_ACCOUNT": "vision",
    "SLURM_JOB_UID": "2001",
    "SLURM_JOB_GID": "3001",
    "SLURM_JOB_NODELIST": "gpu[01-02]",
    "SLURM_JOB_OVERSUBSCRIBE": "NO",
    "SLURM_JOB_START_TIME": "1000",
    "SLURMD_NODENAME": "gpu01",
}
GUARDS = {
    "validatingadmissionpolicies": ("drawbridge-transitions", "drawbridge-job-pods"),
    "validatingadmissionpolicybindings": ("drawbridge-transitions", "drawbridge-job-pods"),
}
PODS = "/api/v1/namespaces/vision/pods"
JOBS = "/apis/batch/v1/namespaces/vision/jobs"
ACCOUNTS = "/api/v1/namespaces/vision/serviceaccounts"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/namespaces/vision/rolebindings"
INVALID = "the server rejected our request due to an error in our request"
POLICY = "ValidatingAdmissionPolicy 'drawbridge-{0}' with binding 'drawbridge-{0}' denied request: no"


def node(value: str = "closed", index: int = 0) -> dict[str, Any]:
    """A Node object with the gate's taint at a place of the list."""
    others = [{"key": f"other-{number}", "effect": "NoSchedule"} for number in range(index)]
    gate = [{"key": TAINT, "value": value, "effect": "NoSchedule"}] if value else []
    return {"metadata": {"labels": {}}, "spec": {"taints": others + gate}}


def pod(name: str, on: str = "", account: str = JOB.account) -> dict[str, Any]:
    """A pod of the job, bound to a node or not yet."""
    labels = {JOB_LABEL: account.split("-")[1]} if account.startswith("slurm-") else {}
    metadata = {"name": name, "uid": f"uid-{name}", "labels": labels}
    return {"metadata": metadata, "spec": {"nodeName": on, "serviceAccountName": account}}


def own_token(namespace: str, name: str) -> str:
    """A host's own token; the gate reads its subject."""
    payload = base64.urlsafe_b64encode(json.dumps({"sub": f"system:serviceaccount:{namespace}:{name}"}).encode())
    return f"x.{payload.decode().rstrip('=')}.y"


def copied(what: Any) -> Any:
    """As it is now; sooner than copy.deepcopy, which thousands of schedules would notice."""
    return pickle.loads(pickle.dumps(what))


class Cluster(Api):
    """A double of Api. `down` makes it silent; `before` is called with every request, to act in between.

    `scripted` holds answers that come before its own, one after the other.
    """

    def __init__(self, **nodes: str) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        for name, value in (nodes or dict.fromkeys(JOB.nodes, "closed")).items():
            self.add("/api/v1/nodes", {**node(value), "metadata": {"name": name, "labels": {}}})
        self.groups: list[dict[str, Any]] = []
        self.scripted: dict[tuple[str, str], list[Any]] = {}
        self.before: Callable[[str, str], object] = lambda method, path: None
        self.policies, self.down, self.log = True, set(), []
        for kind, names in GUARDS.items():
            for name in names:
                metadata = {"name": name, "uid": name, "generation": 1}
                self.add(f"/apis/admissionregistration.k8s.io/v1/{kind}", {"metadata": metadata})

    def value(self, name: str) -> str:
        return gate_taint(self.objects[f"/api/v1/nodes/{name}"])[1]

    def values(self) -> list[str]:
        return [gate_taint(it)[1] for path, it in self.objects.items() if path.startswith("/api/v1/nodes/")]

    def add(self, collection: str, item: dict[str, Any]) -> None:
        self.objects[f"{collection}/{item['metadata']['name']}"] = item

    def get(self, path: str, accept: str = "", **query: str) -> Answer:
        return self.call("GET", path, query=query)

    def call(
        self, method: str, path: str, body: Any = None, kind: str = "", accept: str = "", query: Any = None
    ) -> Answer:
        url = urlsplit(path)
        self.before(method, url.path)
        self.log.append((method, url.path))
        if (method, url.path) in self.down:
            raise Unreachable("the API server does not answer")
        if answers := self.scripted.get((method, url.path)):
            return answers.pop(0)
        return getattr(self, f"_{method.lower()}")(url.path, body, {**parse_qs(url.query), **(query or {})})

    def _get(self, path: str, _body: Any, query: Any) -> Answer:
        if path == "/apis":
            return Answer(200, {"groups": self.groups})
        if path in self.objects:
            return Answer(200, copied(self.objects[path]))
        if not path.rsplit("/", 1)[-1].endswith("s"):
            return Answer(404, {"message": f"{path} not found"})
        items = [it for _, it in self._chosen(path, query)]
        return Answer(200, {"items": copied(items) if items else None})

    def _chosen(self, path: str, query: Any) -> list[tuple[str, Any]]:
        """Objects of a collection, or of that kind in all namespaces, that the selectors find."""
        first = {key: value[0] if isinstance(value, list) else value for key, value in query.items()}
        label, _, value = first.get("labelSelector", "").partition("=")
        fields = dict(it.split("=", 1) for it in first.get("fieldSelector", "").split(",") if it)
        root, kind = path.rsplit("/", 1)
        return [
            (key, it)
            for key, it in self.objects.items()
            if key.rpartition("/")[0] == path or re.fullmatch(f"{root}/namespaces/[^/]+/{kind}/[^/]+", key)
            if not label or (label in (labels := it["metadata"].get("labels", {})) and value in ("", labels[label]))
            if all((it["spec"].get(field[5:]) or "") == wanted for field, wanted in fields.items())
        ]

    def _patch(self, path: str, body: Any, query: Any) -> Answer:
        if path not in self.objects:
            return Answer(404, {"message": f"{path} not found"})
        try:
            after = jsonpatch.apply_patch(copied(self.objects[path]), body, in_place=True)
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException):
            return Answer(422, {"message": INVALID})
        if "dryRun" in query:
            return Answer(422, {"message": POLICY.format("transitions")}) if self.policies else Answer(200, {})
        self.objects[path] = after
        return Answer(200, {})

    def _post(self, path: str, body: Any, _query: Any) -> Answer:
        if f"{path}/{body['metadata']['name']}" in self.objects:
            return Answer(409, {"message": "already exists", "reason": "AlreadyExists"})
        self.add(path, body)
        return Answer(201, body)

    def _delete(self, path: str, body: Any, query: Any) -> Answer:
        if query:
            for key, _ in self._chosen(path, query):
                del self.objects[key]
            return Answer(200, {})
        if path not in self.objects:
            return Answer(404, {"message": "not found"})
        uid = (body or {}).get("preconditions", {}).get("uid")
        if uid and self.objects[path]["metadata"]["uid"] != uid:
            return Answer(409, {"message": "the UID in the precondition does not match"})
        del self.objects[path]
        return Answer(200, {})


class StillClock(Clock):
    """Waiting costs the test no time."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def now(self) -> float:
        return self.seconds

    wall = now

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


class Tools(Commands):
    """Programs that answer as told, by their first words; others end with code 1."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers, self.asked = answers, []

    def run(self, *argv: str, timeout_s: float = 0) -> Any:
        self.asked.append(" ".join(argv))
        for words, answer in self.answers.items():
            if self.asked[-1].removeprefix("/usr/bin/").startswith(words):
                return Result(0, answer) if isinstance(answer, str) else answer
        return Result(1, "", f"no answer to {argv}")


class Scheduler(Slurm):
    """A double of Slurm. `silent`: it answers nothing. Its commands are in `told`."""

    def __init__(self) -> None:
        self.jobs: dict[int, JobInfo] = {}
        self.nodes: dict[str, NodeInfo] = {}
        self.comments: dict[int, str] = {}
        self.processes: dict[int, int] = {}
        self.batch: set[int] = set()
        self.silent, self.told = False, []

    def job(self, number: int) -> JobInfo:
        self._answer()
        return self.jobs.get(number, JobInfo())

    def running(self, partitions: Sequence[str]) -> dict[int, Running]:
        self._answer()
        alive = {number: job for number, job in self.jobs.items() if job.running and job.partition in partitions}
        return {number: Running(job.uid, job.nodes) for number, job in alive.items()}

    def running_on(self, node: str, partitions: Sequence[str]) -> list[int]:
        self._answer()
        return [number for number, job in self.jobs.items() if job.state == "RUNNING" and node in job.nodes]

    def node(self, name: str) -> NodeInfo:
        self._answer()
        return self.nodes.get(name, NodeInfo(frozenset({"IDLE"}), ""))

    def pids(self) -> dict[int, int]:
        return self.processes

    def has_batch_step(self, job: int) -> bool:
        return job in self.batch

    def comment(self, job: int) -> str:
        self._answer()
        return self.comments.get(job, "")

    def set_comment(self, job: int, text: str) -> None:
        self._answer()
        self.comments[job] = text

    def _name(self, job: int) -> str:
        return str(job)

    def _run(self, tool: str, *words: str) -> str:
        self._answer()
        self.told.append(" ".join((tool, *words)))
        return ""

    def _answer(self) -> None:
        if self.silent:
            raise NoAnswer("slurmctld is down")


class Machine(Host):
    """A double of the host that the gate runs on."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.on_gpus: dict[int, str] = {}
        self.boot, self.up_s, self.script, self.lacks = "first", 5.0, False, ""

    def containers(self, infra: Any, own: tuple[str, str] = ("", "")) -> list[str]:
        return [name for name in self.running if not (own[1] and name.startswith(own[1]))]

    def infra_processes(self, pids: Any, infra: Any) -> list[int]:
        return [pid for pid in pids if self.on_gpus.get(pid) == "infra"]

    def gpu_processes(self) -> dict[int, str]:
        return dict(self.on_gpus)

    def daemons(self, pids: Any, programs: Any) -> list[int]:
        return [pid for pid in pids if self.on_gpus.get(pid) in programs]

    def boot_id(self) -> str:
        return self.boot

    def uptime_s(self) -> float:
        return self.up_s

    def script_runs(self) -> bool:
        return self.script

    def unproved(self) -> str:
        return self.lacks


class Quiet(Log):
    """Keeps what would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def write(self, line: str) -> None:
        self.lines.append(line)


# doubles have more than their originals, and no code assigns to a named tuple
# pyright: reportIncompatibleVariableOverride=false


class Made(World):
    """A world with a cluster in the place of the API server."""

    env: dict[str, str]
    clock: StillClock
    slurm: Scheduler
    host: Machine
    log: Quiet
    cluster: Cluster

    def api(self, identity: str, patience_s: float) -> Api:
        return self.cluster


def world(root: Path, cluster: Cluster | None = None, **config: Any) -> Made:
    """A world whose files are below `root`."""
    for name in ("state", "etc", "jobs"):
        (root / name).mkdir(exist_ok=True)
    settings = Config(**{**CONFIG, "metrics": str(root / "gate.prom"), **config})
    parts = (StillClock(), Scheduler(), Machine(), Notes(root / "state"), Quiet())
    marks = {kind: {name: f"{name}/1" for name in names} for kind, names in GUARDS.items()}
    (root / "etc/guards.json").write_text(json.dumps(marks))
    made = Made(settings, dict(ENVIRONMENT), *parts, root / "etc", root / "etc", root / "jobs")
    made.cluster = cluster or Cluster()
    return made


def hold(cluster: Cluster, value: str = JOB.owner.held) -> None:
    """All nodes as they are while a job has them, or after it."""
    for path, it in cluster.objects.items():
        if path.startswith("/api/v1/nodes/"):
            it["spec"]["taints"][0]["value"] = value
            it["metadata"]["labels"] = {LABEL: value.rpartition(".")[2]} if not value.startswith("dirty") else {}


@contextlib.contextmanager
def locked_elsewhere(at: Made, number: int) -> Iterator[None]:
    """Another process has the lock: those of one process do not shut each other out."""
    code = f"import fcntl; f = open({str(at.notes._root / 'lock')!r}, 'a+'); fcntl.lockf(f, 2, 1, {number})"
    argv = [sys.executable, "-c", f"{code}; print(flush=True); input()"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        yield
        other.communicate(b"\n")
