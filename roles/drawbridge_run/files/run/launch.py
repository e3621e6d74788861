# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Creates a workload, follows its pods and returns the exit code, which depends on the pods alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from ..gate.api import Unreachable
from ..gate.clock import Clock
from ..gate.config import Refused
from ..gate.states import PODS, Json
from .console import Console
from .events import StartFailures, why_no_pods
from .kinds import KINDS, collection
from .kube import Kube
from .limits import Limit
from .logs import Follower, last_lines
from .pod import RUN_LABEL, Request
from .pod_set import PodSet
from .pods import Pod, Trouble
from .signals import SignalSender
from .watcher import CHANGE, END_REQUESTED, GONE, LIST, SIGNAL, SILENT, Update, Watcher

TICK_S = 1.0
SETTLE_S = 2.0  # ranks end together; wait for all reports to find the first failure
LOST_S = 60.0  # time for a running workload to recover: after an outage of the API server kubelets report late
NO_PODS_S = 5.0
SEEN_S = 60.0  # until a controller's cache has the object that was created before
REFUSING = (400, 403, 422)
EXISTS = "AlreadyExists"
UNCOUNTED = "status unknown for quota"
UNCOUNTED_S = 360.0  # Kubernetes counts a new kind within 30 s, or after 5 minutes
DRAIN_S = 60.0  # time limit for the last lines of a log
HASTE_S = 10.0  # ... after a request to end, or after another log took as long
LAST_WORDS_S = 3.0  # before Slurm kills us
LIMIT = 124
END = {"propagationPolicy": "Background"}
OVER = "the gate has ended this job's rights in Kubernetes: the job is over"


@dataclass
class Launch:
    """One workload and its pods."""

    request: Request
    kube: Kube
    console: Console
    clock: Clock
    limit: Limit
    signal_sender: SignalSender
    queue: SimpleQueue[Update] = field(default_factory=SimpleQueue)
    """Messages of the watcher and of signals."""
    visit: Callable[[PodSet], int] | None = None
    """Called once all pods run; the workload ends with it, and its result is the exit code."""
    _followers: dict[str, Follower] = field(default_factory=dict)
    _verdict: Trouble | None = None
    """The result, while pods are ending."""
    _end_by: float = 0.0
    _troubled: dict[bool, float] = field(default_factory=dict)
    """Since when there is a trouble, by whether it is final."""
    _said: set[str] = field(default_factory=set)
    _started: bool = False

    def __post_init__(self) -> None:
        """Begin without pods."""
        self._namespace, self._begun = self.request.grant.namespace, self.clock.now()
        self._made: list[str] = []
        self._first_made = 0.0
        self._pods = PodSet(self.request.allocation.nodes, self.request.grant.memory)
        self._start_failures = StartFailures(self.kube, self._namespace, self._begun, self.request.options.patience_s)

    def run(self, objects: Sequence[Json]) -> int:
        """Create the workload, wait for its end, delete it. Raises Refused, Unreachable."""
        try:
            for item in objects:
                self._create(item)
            selector = f"{RUN_LABEL}={self.request.name}"
            Watcher(PODS.format(self._namespace), selector, self.kube, self.clock, self.queue).start()
            while (verdict := self._look()) is None:
                self._receive()
            self._report(verdict)
        finally:
            if not (self.request.options.keep or self._end_by):
                self._delete()
        return verdict.code

    def _create(self, item: Json) -> None:
        """Create an object. If it exists, an answer was lost: no other call uses its name."""
        first = not self._made
        self._made.append(f"{collection(item)}/{item['metadata']['name']}")  # it may exist even without an answer
        answer = self.kube.call("POST", collection(item), item)
        if first:
            self._first_made = self.clock.now()
        while answer.status in REFUSING and self.clock.now() < self._patience(first, answer.message):
            self.clock.sleep(TICK_S)
            answer = self.kube.call("POST", collection(item), item)
        if answer.status == 404:
            needs = KINDS[self.request.options.backend].needs
            raise Refused(f"this cluster has no {item['kind']} ({needs} is not installed): omit --backend")
        if not answer.ok and answer.body.get("reason") != EXISTS:
            raise Refused(f"Kubernetes refuses the workload: {answer.message}")

    def _patience(self, first: bool, refusal: str) -> float:
        if UNCOUNTED in refusal:
            self._say_once(f"waiting for Kubernetes to count the namespace's quota ({refusal})")
            return self._begun + UNCOUNTED_S
        return self._begun if first else self._first_made + SEEN_S

    def _receive(self) -> None:
        try:
            update = self.queue.get(timeout=TICK_S)
        except Empty:
            return
        if update.kind in (LIST, CHANGE):
            self._note(update)
        elif update.kind == SILENT:
            self.console.say(f"{update.what}; the pods run on")
        elif update.kind == GONE:
            self._end(Trouble(OVER), 0)
        elif update.kind == SIGNAL:
            self.signal_sender.send(update.what, self._pods.pods)
        elif update.kind == END_REQUESTED:
            self._end(update.what, self.request.site.kill_wait_s - LAST_WORDS_S)

    def _note(self, update: Update) -> None:
        if update.kind == LIST:
            for pod in self._pods.keep(item["metadata"]["name"] for item in update.what):
                self._follow(pod, over=True)
            for item in update.what:
                self._follow(self._pods.note(item))
            return
        self._follow(self._pods.note(update.what["object"]))
        if update.what["type"] == "DELETED":
            self._follow(self._pods.lose(update.what["object"]["metadata"]["name"]), over=True)

    def _follow(self, pod: Pod, over: bool = False) -> None:
        everything = self.request.options.all_logs
        if (everything or pod.rank == 0) and pod.begun and pod.name not in self._followers:
            prefix = f"[rank {pod.rank}] " if everything else ""
            path = f"{PODS.format(self._namespace)}/{pod.name}"
            self._followers[pod.name] = Follower(path, prefix, self.kube, self.console, self.clock)
            self._followers[pod.name].start()
        if (over or pod.over) and pod.name in self._followers:
            self._followers[pod.name].over()

    def _look(self) -> Trouble | None:
        now = self.clock.now()
        if self._end_by:
            return self._verdict if now >= self._end_by or self._pods.over else None
        if self._pods.well:
            return Trouble("", 0)
        self._progress(now)
        if self._started and self.visit:
            return Trouble("", self.visit(self._pods))
        if self.limit.reached(now):
            grace = self.request.options.grace_s
            text = f"the job's time limit is near: the pods get SIGTERM and have {grace} s"
            self._end(Trouble(text, LIMIT), grace + HASTE_S)
            return None
        found = self._pods.trouble() or self._start_failures.trouble(self._pods.pods, now)
        if not (found or self._pods.pods) and now - self._begun > NO_PODS_S:
            found = Trouble(why_no_pods(self.kube, self._namespace, self.request.name))
        return self._lasting(found, now)

    def _lasting(self, found: Trouble | None, now: float) -> Trouble | None:
        """A trouble that lasted: a final one for SETTLE_S, any other for its patience.

        Its text may change meanwhile, as between a failed pull and a wait for the next one.
        """
        if found is None:
            self._troubled = {}
            return None
        since = self._troubled.setdefault(found.final, now)
        if not found.final:
            self._say_once(found.text)
        patience = LOST_S if self._started else self.request.options.patience_s
        return found if now - since >= (SETTLE_S if found.final else patience) else None

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self.console.say(text)

    def _progress(self, now: float) -> None:
        if self._started:
            return
        self._started = self._pods.running
        if self._started:
            self.console.say(f"all pods run, {now - self._begun:.1f} s after {self.request.name} was made")
        else:
            self.console.progress(self._pods.summary)

    def _end(self, verdict: Trouble, at_most_s: float) -> None:
        if self._end_by:
            return
        self.console.say(verdict.text)
        self._verdict = verdict
        self._end_by = self.clock.now() + min(at_most_s, self.request.options.grace_s + HASTE_S)
        self._delete()

    def _delete(self) -> None:
        try:
            while self._made:
                self.kube.call("DELETE", self._made[-1], END)
                self._made.pop()
        except Unreachable as err:
            self.console.say(f"{err}; the gate ends the pods with the job")

    def _report(self, verdict: Trouble) -> None:
        self._drain([self._followers[pod.name] for pod in self._pods.pods if pod.over and pod.name in self._followers])
        failed = self._pods.of_rank(verdict.rank)
        if failed and failed.name not in self._followers:
            for line in last_lines(f"{PODS.format(self._namespace)}/{failed.name}", self.kube):
                self.console.print(f"[rank {failed.rank}] {line}")
        if verdict.text and not self._end_by:
            self.console.say(verdict.text)

    def _drain(self, followers: Sequence[Follower]) -> None:
        """Print the rest of the logs; after a request to end wait no longer than HASTE_S."""
        begun, asked = self.clock.now(), bool(self._end_by)
        for follower in followers:
            turn = self.clock.now()
            while not follower.join(TICK_S):
                asked = asked or self._end_requested()
                now = self.clock.now()
                if now - turn >= HASTE_S and (asked or now - begun >= DRAIN_S):
                    break

    def _end_requested(self) -> bool:
        while not self.queue.empty():
            if self.queue.get().kind == END_REQUESTED:
                return True
        return False
