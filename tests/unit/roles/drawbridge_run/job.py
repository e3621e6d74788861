# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A job of two nodes as drawbridge-run finds it, and pods as the API server shows them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from roles.drawbridge_run.files.gate.api import Answer
from roles.drawbridge_run.files.gate.clock import Clock
from roles.drawbridge_run.files.gate.command import Commands, Result
from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.gate.states import PODS
from roles.drawbridge_run.files.run.allocation import Allocation
from roles.drawbridge_run.files.run.console import Console
from roles.drawbridge_run.files.run.kinds import KINDS
from roles.drawbridge_run.files.run.kube import Kube
from roles.drawbridge_run.files.run.launch import Launch
from roles.drawbridge_run.files.run.limits import Limit
from roles.drawbridge_run.files.run.options import parse
from roles.drawbridge_run.files.run.pod import Request, User
from roles.drawbridge_run.files.run.pods import Pod
from roles.drawbridge_run.files.run.signals import SignalSender
from roles.drawbridge_run.files.run.site import Grant, Site
from roles.drawbridge_run.files.run.watcher import Update
from tests.unit.roles.slurm_gate import cluster as doubles
from tests.unit.roles.slurm_gate.cluster import JOB, Cluster

ENV = {
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_NAME": "train",
    "SLURM_JOB_PARTITION": "ai-train",
    "SLURM_JOB_NODELIST": "gpu[01-02]",
    "SLURM_JOB_CPUS_PER_NODE": "128(x2)",
}
SITE = {
    "partitions": ["ai-train"],
    "namespaces": {"vision": "vision"},
    "mounts": {"vision": ["/gpfs/fs1", "/gpfs/fs2"], "nlp": ["/gpfs/fs1"]},
    "gpu_resource": "nvidia.com/gpu",
    "devices": {"rdma/rail0": "1"},
    "kill_wait_s": 30,
}
GATE = {
    "DRAWBRIDGE_API_SERVER": "https://api:6443",
    "DRAWBRIDGE_CA_FILE": "/ca.crt",
    "DRAWBRIDGE_NAMESPACE": "vision",
    "DRAWBRIDGE_SERVICE_ACCOUNT": JOB.account,
    "DRAWBRIDGE_TOLERATION": JOB.owner.held,
    "DRAWBRIDGE_GROUPS": "3011,3012",
    "DRAWBRIDGE_POD_GPUS": "8",
    "DRAWBRIDGE_POD_CPUS": "120",
    "DRAWBRIDGE_POD_MEMORY": "2052096Mi",
}
ADA = User(2001, 3001, "ada", "/home/ada", "/gpfs/fs1/home/ada", 0o027, {"TOKENS": "two"})
MARK = "3f9a1c"
NAME = f"slurm-4711-r0-run-{MARK}"


class StillClock(doubles.StillClock, Clock):
    """Waiting costs the test no time; as Tools, in the types of the launcher's own copy of the gate's program."""


class Tools(doubles.Tools, Commands):
    """Programs that answer as told, by their first words; others end with code 1."""

    def run(self, *argv: str, timeout_s: float = 0) -> Result:
        return Result(*super().run(*argv))


def site(**changed: Any) -> Site:
    return Site(**{**SITE, **changed})


def granted(root: Path, **changed: str) -> Grant:
    """What the gate placed, as files and as the launcher reads it."""
    home = root / "4711"
    home.mkdir(parents=True, exist_ok=True)
    (home / "env").write_text("".join(f"{key}={value}\n" for key, value in {**GATE, **changed}.items()))
    (home / "token").write_text("a token")
    return Grant.read(home)


def request(root: Path, line: str = "--image img -- python train.py", **slurm: str) -> Request:
    options = parse(line.split())
    allocation = Allocation.of({**ENV, **slurm}, site())
    return Request(MARK, allocation, granted(root), site(), options, ADA, {"NCCL_IB_TC": "106"}, "10.0.0.21")


def pod(name: str, node: str = "", state: dict[str, Any] | None = None, **status: Any) -> dict[str, Any]:
    """A Pod object; `state` is its container's."""
    found: dict[str, Any] = {"phase": "Pending", **status}
    if state is not None:
        found["containerStatuses"] = [{"state": state}]
    return {"metadata": {"name": name, "resourceVersion": "7"}, "spec": {"nodeName": node}, "status": found}


def running(name: str, node: str, ready: str = "True") -> dict[str, Any]:
    return pod(name, node, {"running": {}}, phase="Running", conditions=[{"type": "Ready", "status": ready}])


def ended(name: str, node: str, code: int = 0, at: str = "2025-11-21T10:00:00Z", **more: str) -> dict[str, Any]:
    phase = "Failed" if code else "Succeeded"
    reason = "Error" if code else "Completed"
    state = {"terminated": {"exitCode": code, "finishedAt": at, "reason": reason, **more}}
    return pod(name, node, state, phase=phase)


def waiting(name: str, node: str, reason: str, message: str = "") -> dict[str, Any]:
    return pod(name, node, {"waiting": {"reason": reason, "message": message}})


def event(name: str, reason: str, message: str = "", at: int = 0, **more: Any) -> dict[str, Any]:
    """A kubelet's word about a pod, a warning unless told otherwise, so many seconds after the hour."""
    return {
        "involvedObject": {"kind": "Pod", "name": name},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "source": {"component": "kubelet"},
        "lastTimestamp": f"2025-11-21T10:00:{at:02d}Z",
        **more,
    }


class Paper(Console):
    """Keeps what would be printed."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.printed: list[str] = []
        self.shown: list[str] = []

    def print(self, text: str) -> None:
        self.printed.append(text)

    def say(self, text: str) -> None:
        self.said.append(text)

    def progress(self, text: str) -> None:
        if text not in self.shown:
            self.shown.append(text)


def selected(item: dict[str, Any], path: str) -> Any:
    """What a field selector names."""
    for key in path.replace("source", "source.component").split("."):
        item = item[key]
    return item


class Served(Kube):
    """The API server in memory, with logs and with events of pods, in this order."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.logs: dict[str, list[str]] = {}
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        return Answer(*self.cluster.call(method, path, body))

    def items(self, path: str, **query: str) -> dict[str, Any]:
        if path == PODS.format("vision"):
            threading.Event().wait()  # the test tells what happens to pods; a watcher has nothing to do
        wanted = [part.split("=") for part in query["fieldSelector"].split(",")]
        found = [event for event in self.events if all(selected(event, path) == value for path, value in wanted)]
        return {"items": found, "metadata": {"resourceVersion": "1"}}

    def lines(self, path: str, **query: str) -> Iterator[str]:
        if path not in self.logs:
            raise Refused("no such pod")
        yield from self.logs[path]


class Script(SimpleQueue):
    """Update in their order; each time that there are none, a second passes."""

    def __init__(self, clock: StillClock, updates: list[Update]) -> None:
        self._clock, self._news = clock, updates

    def get(self, block: bool = True, timeout: float | None = None) -> Update:
        self._clock.sleep(timeout or 0)
        if not self._news:
            from queue import Empty

            raise Empty
        return self._news.pop(0)

    def empty(self) -> bool:
        return not self._news

    def put(self, item: Update, block: bool = True, timeout: float | None = None) -> None:
        """The watcher's own updates don't matter here."""


class Ending(Commands):
    """A squeue that tells the time left of a job."""

    def __init__(self, clock: StillClock, seconds: float) -> None:
        self._clock, self._end = clock, clock.now() + seconds

    def run(self, *argv: str, timeout_s: float = 0) -> Result:
        left = int(self._end - self._clock.now())
        return Result(0, f"{JOB.owner.job} {left // 60}:{left % 60:02d}\n")


class Slate(SignalSender):
    """Keeps which signals would go to whom."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, list[str]]] = []

    def send(self, number: int, found: Sequence[Pod]) -> None:
        self.sent.append((number, [pod.name for pod in found]))


@dataclass
class Scene:
    """A launch whose pods do what the test says."""

    root: Path
    updates: list[Update]
    line: str = "--image img -- python train.py"
    seconds_left: float = 3600
    clock: StillClock = field(default_factory=StillClock)
    paper: Paper = field(default_factory=Paper)
    cluster: Cluster = field(default_factory=Cluster)
    signal_sender: Slate = field(default_factory=Slate)

    def __post_init__(self) -> None:
        self.kube = Served(self.cluster)
        self.request = request(self.root, self.line)

    def log(self, name: str, *lines: str) -> None:
        stamped = [f"2025-11-21T10:00:0{index}.000000000Z {line}" for index, line in enumerate(lines)]
        self.kube.logs[f"{PODS.format('vision')}/{name}/log"] = stamped

    def run(self) -> int:
        tools = Ending(self.clock, self.seconds_left)
        limit = Limit(4711, self.request.options.grace_s, tools, self.clock.now())
        queue = Script(self.clock, self.updates)
        launch = Launch(self.request, self.kube, self.paper, self.clock, limit, self.signal_sender, queue)
        return launch.run(KINDS[self.request.options.backend].make(self.request))

    def deleted(self) -> bool:
        return ("DELETE", f"/apis/batch/v1/namespaces/vision/jobs/{NAME}") in self.cluster.log


def write_site(root: Path) -> Path:
    file = root / "run.json"
    file.write_text(json.dumps(SITE))
    return file
