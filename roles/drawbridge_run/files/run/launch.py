# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the workload's creation to the exit code: what happens to its pods decides, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from ..gate.api import Unreachable
from ..gate.clock import Clock
from ..gate.config import Refused
from ..gate.states import PODS, Json
from .console import Console
from .events import why_no_pods
from .kinds import KINDS, collection
from .kube import Kube
from .limits import Limit
from .logs import Follower, last_lines
from .pod import RUN_LABEL, Request
from .pod_set import PodSet
from .pods import Pod, Trouble
from .signals import SignalSender
from .start_failures import StartFailures
from .watcher import CHANGE, END_REQUESTED, GONE, LIST, SIGNAL, SILENT, Update, Watcher

TICK_S = 1.0
SETTLE_S = 2.0  # ranks end together; which of them was first is known once all have been heard of
LOST_S = 60.0  # what a running workload gets to heal: after an API server's absence kubelets take their time, too
NO_PODS_S = 5.0
SEEN_S = 60.0  # until a controller that is asked about an object knows of the one before it
REFUSING = (400, 403, 422)
THERE = "AlreadyExists"
UNCOUNTED = "status unknown for quota"
UNCOUNTED_S = 360.0  # Kubernetes counts a kind that it has just learned within 30 s, or in its round of 5 minutes
DRAIN_S = 60.0  # what the last lines of a log may take
HASTE_S = 10.0  # ... when somebody has asked for the end, or when another log has taken as long
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
    """What the watcher and signals tell."""
    visit: Callable[[PodSet], int] | None = None
    """What is done once all pods run; its end is the workload's, and its code the exit code."""
    _followers: dict[str, Follower] = field(default_factory=dict)
    _verdict: Trouble | None = None
    """What the end will be, while pods are on their way to it."""
    _end_by: float = 0.0
    _troubled: dict[bool, float] = field(default_factory=dict)
    """Since when something is wrong that can heal, and something that can't."""
    _said: set[str] = field(default_factory=set)
    _started: bool = False

    def __post_init__(self) -> None:
        """Begin with nothing known."""
        self._namespace, self._begun = self.request.grant.namespace, self.clock.now()
        self._made: list[str] = []
        self._first_made = 0.0
        self._pods = PodSet(self.request.allocation.nodes, self.request.grant.memory)
        self._start_failures = StartFailures(self.kube, self._namespace, self._begun, self.request.options.patience_s)

    def run(self, objects: Sequence[Json]) -> int:
        """Create the workload, see it to its end, take it away. Raises Refused, Unreachable."""
        try:
            for item in objects:
                self._create(item)
            selector = f"{RUN_LABEL}={self.request.name}"
            Watcher(PODS.format(self._namespace), selector, self.kube, self.clock, self.queue).start()
            while (verdict := self._look()) is None:
                self._hear()
            self._tell(verdict)
        finally:
            if not (self.request.options.keep or self._end_by):
                self._delete()
        return verdict.code

    def _create(self, item: Json) -> None:
        """Nobody else has this call's names, so what is there already came of a request whose answer was lost."""
        first = not self._made
        self._made.append(f"{collection(item)}/{item['metadata']['name']}")  # without an answer it may be there as well
        answer = self.kube.call("POST", collection(item), item)
        if first:
            self._first_made = self.clock.now()
        while answer.status in REFUSING and self.clock.now() < self._patience(first, answer.message):
            self.clock.sleep(TICK_S)
            answer = self.kube.call("POST", collection(item), item)
        if answer.status == 404:
            needs = KINDS[self.request.options.backend].needs
            raise Refused(f"this cluster knows no {item['kind']} ({needs} is not installed): leave --backend away")
        if not answer.ok and answer.body.get("reason") != THERE:
            raise Refused(f"Kubernetes does not take the workload: {answer.message}")

    def _patience(self, first: bool, refusal: str) -> float:
        """Until when a refused creation is tried again."""
        if UNCOUNTED in refusal:
            self._say_once(f"waiting for Kubernetes to count the namespace's quota ({refusal})")
            return self._begun + UNCOUNTED_S
        return self._begun if first else self._first_made + SEEN_S

    def _hear(self) -> None:
        """Take in one update; wait a moment for it."""
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
        """Take in what is said of pods."""
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
        """Print the pod's log if it is one of those to be printed; tell its follower when no more will come."""
        everything = self.request.options.all_logs
        if (everything or pod.rank == 0) and pod.begun and pod.name not in self._followers:
            prefix = f"[rank {pod.rank}] " if everything else ""
            path = f"{PODS.format(self._namespace)}/{pod.name}"
            self._followers[pod.name] = Follower(path, prefix, self.kube, self.console, self.clock)
            self._followers[pod.name].start()
        if (over or pod.over) and pod.name in self._followers:
            self._followers[pod.name].over()

    def _look(self) -> Trouble | None:
        """The verdict, as soon as there is one."""
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
            text = f"the job's time limit is near: the pods are told to end (SIGTERM) and have {grace} s"
            self._end(Trouble(text, LIMIT), grace + HASTE_S)
            return None
        found = self._pods.trouble() or self._start_failures.trouble(self._pods.pods, now)
        if not (found or self._pods.pods) and now - self._begun > NO_PODS_S:
            found = Trouble(why_no_pods(self.kube, self._namespace, self.request.name))
        return self._lasting(found, now)

    def _lasting(self, found: Trouble | None, now: float) -> Trouble | None:
        """A trouble that has lasted: a final one until others have been heard of, others may heal for a while.

        Its words may change meanwhile, as between a pull that failed and one that waits for its next try.
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
        """Tell the pods to end, and wait for that as long as there is time."""
        if self._end_by:
            return
        self.console.say(verdict.text)
        self._verdict = verdict
        self._end_by = self.clock.now() + min(at_most_s, self.request.options.grace_s + HASTE_S)
        self._delete()

    def _delete(self) -> None:
        """Take away what was made, what makes pods first."""
        try:
            while self._made:
                self.kube.call("DELETE", self._made[-1], END)
                self._made.pop()
        except Unreachable as err:
            self.console.say(f"{err}; the gate ends the pods with the job")

    def _tell(self, verdict: Trouble) -> None:
        """The rest of the logs; of a failed rank that is not printed anyway the last lines; the verdict last."""
        self._drain([self._followers[pod.name] for pod in self._pods.pods if pod.over and pod.name in self._followers])
        failed = self._pods.of_rank(verdict.rank)
        if failed and failed.name not in self._followers:
            for line in last_lines(f"{PODS.format(self._namespace)}/{failed.name}", self.kube):
                self.console.print(f"[rank {failed.rank}] {line}")
        if verdict.text and not self._end_by:
            self.console.say(verdict.text)

    def _drain(self, followers: Sequence[Follower]) -> None:
        """The rest of the logs. Whoever asks for the end meanwhile has not long to wait."""
        begun, asked = self.clock.now(), bool(self._end_by)
        for follower in followers:
            turn = self.clock.now()
            while not follower.join(TICK_S):
                asked = asked or self._asked()
                now = self.clock.now()
                if now - turn >= HASTE_S and (asked or now - begun >= DRAIN_S):
                    break

    def _asked(self) -> bool:
        """Somebody asks for the end; what else is told comes too late to matter."""
        while not self.queue.empty():
            if self.queue.get().kind == END_REQUESTED:
                return True
        return False
