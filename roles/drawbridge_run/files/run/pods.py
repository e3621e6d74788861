# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Status of pods, as sentences. Pure."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

WAITING, STARTING, RUNNING, ENDED, REFUSED = "wait for a node", "start", "run", "ended", "refused"
NOTHING_RAN = 125
PULLING = ("ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "SignatureValidationFailed")
HOPELESS = ("InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError")
NO_SUCH_IMAGE = re.compile(r"not found|denied|[Uu]nauthorized|manifest unknown|no match for platform")
NO_PROGRAM = re.compile(r"not found|no such file", re.IGNORECASE)


@dataclass(frozen=True)
class Trouble:
    """Why a workload does not run, or ended."""

    text: str
    code: int = NOTHING_RAN
    final: bool = False
    """Waiting does not help."""
    rank: int = -1
    """The rank whose last log lines show the cause; -1: none."""


@dataclass(frozen=True)
class Pod:
    """One pod's state."""

    name: str
    node: str
    rank: int
    """Its node's position among the job's nodes; -1 without a node."""
    state: str
    detail: str = ""
    """Kubernetes' message about a failure."""
    reason: str = ""
    code: int | None = None
    finished: str = ""
    unseen: bool = False
    """Its node's kubelet does not report."""

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"rank {self.rank} on {self.node}" if self.rank >= 0 else f"pod {self.name}"

    @property
    def begun(self) -> bool:
        """Whether it has a log."""
        return self.state in (RUNNING, ENDED)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in (ENDED, REFUSED)

    @property
    def failed(self) -> bool:
        """Whether it ended with a failure."""
        return self.over and self.code != 0


def read(pod: Json, nodes: Sequence[str]) -> Pod:
    """Read a Pod object."""
    spec, status, metadata = pod.get("spec", {}), pod.get("status", {}), pod["metadata"]
    node = spec.get("nodeName", "")
    conditions = {entry["type"]: entry for entry in status.get("conditions", [])}
    containers = status.get("containerStatuses") or [{}]
    known = {"name": metadata["name"], "node": node, "rank": nodes.index(node) if node in nodes else -1}
    current = containers[0].get("state", {})
    if "terminated" in current:
        return _ended(current["terminated"], known)
    if status.get("phase") == "Failed":
        text = status.get("message") or "Kubernetes gives no reason"
        return Pod(state=REFUSED, detail=text, reason=status.get("reason", ""), **known)
    if "running" in current:
        return Pod(state=RUNNING, unseen=conditions.get("Ready", {}).get("status") == "False", **known)
    if node:
        waiting = current.get("waiting", {})
        return Pod(state=STARTING, detail=waiting.get("message", ""), reason=waiting.get("reason", ""), **known)
    scheduled = conditions.get("PodScheduled", {})
    return Pod(state=WAITING, detail=scheduled.get("message", ""), reason=scheduled.get("reason", ""), **known)


def _ended(state: Json, known: Json) -> Pod:
    code, reason, said = int(state.get("exitCode", 1)), state.get("reason", ""), state.get("message", "")
    if reason in ("StartError", "ContainerCannotRun"):
        code = 127 if NO_PROGRAM.search(said) else 126
    detail = said if reason in ("StartError", "ContainerCannotRun") else ""
    return Pod(state=ENDED, detail=detail, reason=reason, code=code, finished=state.get("finishedAt") or "", **known)


def trouble(pod: Pod, memory: str) -> Trouble | None:
    """A pod's failure; None without one. `memory` is a pod's limit."""
    if pod.state == ENDED:
        return _of_end(pod, memory) if pod.code else None
    if pod.state == REFUSED:
        return Trouble(f"{pod.label} was refused by its node ({pod.reason}): {pod.detail}", final=True)
    if pod.state == STARTING and pod.reason in PULLING:
        text = f"the image can't be pulled on {pod.node}: {pod.detail or pod.reason}"
        return Trouble(text, final=bool(NO_SUCH_IMAGE.search(pod.detail)))
    if pod.state == STARTING and pod.reason in HOPELESS:
        return Trouble(f"{pod.label} can't start ({pod.reason}): {pod.detail}", final=True)
    if pod.state == STARTING and pod.detail:
        return Trouble(f"{pod.label} does not start ({pod.reason}): {pod.detail}")
    if pod.state == RUNNING and pod.unseen:
        return Trouble(f"{pod.label} is lost: its node's kubelet does not report")
    if pod.state == WAITING and pod.reason == "Unschedulable":
        return Trouble(f"a pod gets none of the job's nodes: {pod.detail}")
    return None


def _of_end(pod: Pod, memory: str) -> Trouble:
    code = pod.code or 0
    if pod.detail:
        return Trouble(f"{pod.label} could not begin: {pod.detail}", code, True, -1)
    if pod.reason == "OOMKilled":
        return Trouble(f"{pod.label} used more memory than a pod has ({memory}) and was killed", code, True, pod.rank)
    if code == 137:
        hint = f"by a user or an administrator, or its node ran out of memory (a pod has {memory})"
        return Trouble(f"{pod.label} was killed (exit code 137): {hint}", code, True, pod.rank)
    if code > 128:
        return Trouble(f"{pod.label} ended by {_signal(code - 128)} (exit code {code})", code, True, pod.rank)
    return Trouble(f"{pod.label} ended with exit code {code}", code, True, pod.rank)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def first_failure(pods: Iterable[Pod]) -> Pod | None:
    """The pod that failed first, by its end time; others may have ended because of it.

    Within one second the order of `pods` decides: the order in which their ends were reported.
    """
    failed = [pod for pod in pods if pod.failed]
    return min(failed, key=lambda pod: pod.finished or "9", default=None)


def summary(pods: Iterable[Pod], expected: int) -> str:
    """One line of progress."""
    counted = Counter(pod.state for pod in pods)
    parts = [f"{counted[state]} {state}" for state in (WAITING, STARTING, RUNNING, ENDED, REFUSED) if counted[state]]
    missing = expected - sum(counted.values())
    if missing > 0:
        parts.insert(0, f"{missing} not made yet")
    return f"{expected} pod{'s' if expected != 1 else ''}: {', '.join(parts)}"
