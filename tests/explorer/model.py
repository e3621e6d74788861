# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One schedule, from its first job until everything had to be in order again."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

from roles.slurm_gate.files.gate.config import Config
from roles.slurm_gate.files.gate.gate_names import CLOSED, EFFECT, GATE_NAMESPACE, NODES_NAMESPACE, TAINT
from roles.slurm_gate.files.gate.states import Json, place
from tests.unit.roles.slurm_gate.cluster import CONFIG

from .hosts import Box, Faults, Process, System, replaced
from .invariants import T_S, breaches
from .kube import Kube
from .plan import NODES, Event, Plan
from .records import EVERYWHERE, GPU_USED, PERSON, History, Trouble
from .server import Server, own_token
from .sim import Sim
from .slurm import REQUEUE_S, Slurm
from .tools import Answers

TICK_S, AT_BOOT_S = 30.0, 10.0
SETTINGS = {
    **CONFIG,
    "namespaces": {"vision": "vision", "nlp": "nlp"},
    "partition_nodes": {"ai-train": "gpu[01-03]"},
    "patience_s": 12,
    "empty_s": 25,
    "pod_grace_s": 5,
    "stuck_s": 40,
    "tries": 2,
}
"""Shorter than a site's, in the same order of size."""
SLACK_S = 45.0
"""After the bound: what began late in it is seen to its end."""


@dataclass
class Outcome:
    """What one schedule showed."""

    breaches: list[tuple[str, str]]
    met: Counter[tuple[str, str, str]]
    steps: Counter[tuple[str, str]]
    events: Counter[str]
    edges: Counter[tuple[str, str]]
    lines: list[str]


def explore(plan: Plan, keep: bool = False) -> Outcome:
    """Run one schedule; `keep` its trace."""
    with replaced():
        model = Model(plan, keep)
        try:
            model.sim.run(plan.over_at + T_S + SETTINGS["pod_grace_s"] + SLACK_S)
        finally:
            model.sim.close()
    return model.outcome()


class Model:
    """All parts of one schedule, and what happens to them."""

    def __init__(self, plan: Plan, keep: bool) -> None:
        self.plan, self.sim, self.history = plan, Sim(), History()
        rng = random.Random(plan.seed)
        self.server = Server(self.sim, self.history, list(NODES))
        self.system = System(
            self.sim, self.server, Config(**{**SETTINGS, "tries": plan.tries}), Faults(plan.strikes, rng)
        )
        self.system.keep = keep
        self.boxes = {name: Box(name, plan.skews.get(name, 0.0)) for name in ("ctl", *NODES)}
        workers = {name: self.boxes[name] for name in NODES}
        self.kube = Kube(self.system, workers, rng)
        self.kube.late_s, self.kube.ghost_s, self.kube.backoff_s = plan.late_s, plan.ghost_s, plan.backoff_s
        self.slurm = Slurm(self.system, self.kube, workers, self.boxes["ctl"], rng)
        self.slurm.prolog_waits, self.slurm.cancels_opener = plan.prolog_waits, plan.cancels_opener
        self.system.answer = Answers(self.slurm)
        self._quiet: dict[str, Any] = {}
        for box in self.boxes.values():
            self._furnish(box, rng)
        self._schedule()

    def _furnish(self, box: Box, rng: random.Random) -> None:
        """Tokens of its own, of some age; and the timer."""
        names = (
            {"opener": GATE_NAMESPACE, "reconciler": GATE_NAMESPACE} if box.name == "ctl" else {"node": NODES_NAMESPACE}
        )
        for name, namespace in names.items():
            subject = name if box.name == "ctl" else box.name
            made = 1_000_000.0 + box.skew - rng.uniform(0, 1200)
            box.files[f"/etc/{name}.token"] = (own_token(namespace, subject), made, 0)
        box.notes["boot"] = {"id": "1"}
        self.sim.after(rng.uniform(0, TICK_S), self._tick, box, box.boot)

    def _schedule(self) -> None:
        for number, (at, spec) in enumerate(self.plan.jobs, 1):
            self.sim.after(at, self.slurm.submit, spec, number)
        for event in self.plan.events:
            self.sim.after(event.at, self._begin, event)
        self.sim.after(5.0, self.slurm.ping)
        self.sim.after(self.plan.over_at, self._wind_up)

    def _begin(self, event: Event) -> None:
        """Let the method of the event's name do it."""
        self.system.trace("****", f"{event.name} {event.subject or ''}")
        self.server.version += 1
        getattr(self, "_" + re.sub("[^a-z]+", "_", event.name.lower()))(event)

    # the timer of every host

    def _tick(self, box: Box, boot: int) -> None:
        """drawbridge-gate.timer; a run that would see what the last one saw is left out."""
        if box.boot != boot:
            return
        if not box.on or self._quiet.get(box.name) == self._view(box):
            self.sim.after(TICK_S, self._tick, box, boot)
        else:
            box.skipped = False
            Process(self.system, box, "tend", {}, partial(self._ticked, box, boot, self._view(box)))

    def _ticked(self, box: Box, boot: int, view: Any, code: int | None) -> None:
        idle = code == 0 and view == self._view(box) and not (box.skipped or self._busy())
        self._quiet[box.name] = view if idle else None
        self.sim.after(TICK_S, self._tick, box, boot)

    def _view(self, box: Box) -> Any:
        node = self.slurm.nodes.get(box.name)
        own = (node.reason_now, node.job) if node else ()
        return (self.server.version, box.boot, box.online, len(self.history.drains), tuple(box.gpus), own)

    def _busy(self) -> bool:
        return any(it.nodes for it in self.slurm.jobs.values())

    # what becomes of jobs

    def _job(self, event: Event) -> Any:
        job = self.slurm.jobs.get(event.subject)
        if job and not self.slurm.up:
            self.sim.after(1.0, self._begin, event)
            return None
        return job

    def _cancelled(self, event: Event) -> None:
        if job := self._job(event):
            self.slurm.cancel(job)

    def _timed_out(self, event: Event) -> None:
        if (job := self._job(event)) and job.state == "RUNNING":
            self.slurm.cancel(job, "TIMEOUT")

    def _requeued(self, event: Event) -> None:
        if job := self._job(event):
            self.slurm.requeue(job)

    def _requeued_its_scripts_again_later(self, event: Event) -> None:
        if (job := self._job(event)) and self.slurm.requeue(job):
            self.sim.after(REQUEUE_S + event.lasts, self.slurm.late_scripts, job.number)

    def _preempted(self, event: Event) -> None:
        if (job := self._job(event)) and not self.slurm.requeue(job):
            self.slurm.cancel(job, "PREEMPTED")

    def _shrunk(self, event: Event) -> None:
        if job := self._job(event):
            self.slurm.shrink(job)

    def _its_node_is_lost(self, event: Event) -> None:
        if (job := self._job(event)) and job.nodes:
            self._node_lost(event._replace(subject=job.nodes[0]))

    def _suspended(self, event: Event) -> None:
        if (job := self._job(event)) and job.state == "RUNNING":
            job.state = "SUSPENDED"
            self.sim.after(event.lasts + 35.0, self._resumed, job, job.generation)

    def _resumed(self, job: Any, generation: int) -> None:
        if job.state == "SUSPENDED" and job.generation == generation:
            job.state = "RUNNING"
            self.slurm._work(job)

    # what fails for all

    def _trouble(self, event: Event, node: str = EVERYWHERE, longer: float = 0.0) -> None:
        span = (self.sim.now, self.sim.now + event.lasts + longer)
        self.history.troubles.append(Trouble(event.name, node, *span))

    def _api_server_down(self, event: Event) -> None:
        self.server.up = False
        self._trouble(event)
        self.sim.after(event.lasts, self._api_server_up)

    def _api_server_up(self) -> None:
        self.server.up = True
        self.kube.resync()

    def _api_server_slow(self, event: Event) -> None:
        self.system.slow = True
        self._trouble(event)
        self.sim.after(event.lasts, setattr, self.system, "slow", False)

    def _policies_missing(self, event: Event) -> None:
        self.server.policies, self.server.policies_off_since = False, self.sim.now
        self.sim.after(event.lasts, self._policies_back)

    def _policies_back(self) -> None:
        self.server.policies, self.server.policies_off_since = True, float("inf")

    def _tools_hang(self, event: Event) -> None:
        self.system.tools_hang = True
        self._trouble(event, longer=20.0)
        self.sim.after(event.lasts, setattr, self.system, "tools_hang", False)

    def _slurmctld_restarts(self, event: Event) -> None:
        self._trouble(event)
        self.slurm.ctld_stops()
        self.sim.after(event.lasts, self._ctld_starts)

    def _ctld_starts(self) -> None:
        if not self.slurm.up and self.boxes["ctl"].on:
            self.slurm.ctld_starts()

    def _slurmctld_dies_and_forgets_seconds(self, event: Event) -> None:
        self.slurm.save()
        late = self.slurm.rng.uniform(0.1, 5.0)
        self._trouble(event, longer=late)
        self.sim.after(late, self.slurm.ctld_stops)
        self.sim.after(late + event.lasts, self._ctld_starts)

    def _slurmctld_starts_with_an_empty_state(self, event: Event) -> None:
        self._trouble(event)
        self.slurm.ctld_stops()
        self.slurm.forget_everything()
        self.sim.after(event.lasts, self._ctld_starts)

    def _controller_loses_power(self, event: Event) -> None:
        self._trouble(event)
        self.slurm.ctld_stops()
        self._cut(self.boxes["ctl"])
        self.sim.after(event.lasts, self._power_on, self.boxes["ctl"])
        self.sim.after(event.lasts + 1.0, self._ctld_starts)

    def _everything_loses_power(self, event: Event) -> None:
        self._api_server_down(event)
        self._controller_loses_power(event)
        for name in NODES:
            later = event.lasts + self.slurm.rng.uniform(0, 30)
            self._node_loses_power(Event(event.at, event.name, name, later))

    # what fails on one node

    def _slurmd_killed(self, event: Event) -> None:
        self._trouble(event, event.subject)
        self.slurm.slurmd_dies(event.subject)
        self.sim.after(event.lasts, self._slurmd_starts, event.subject, self.boxes[event.subject].boot)

    def _slurmd_killed_in_a_prolog(self, event: Event) -> None:
        self.slurm.nodes[event.subject].doom["place"] = partial(self._slurmd_killed, event)

    def _slurmd_killed_in_an_epilog(self, event: Event) -> None:
        self.slurm.nodes[event.subject].doom["close"] = partial(self._slurmd_killed, event)

    def _slurmstepd_hangs(self, event: Event) -> None:
        self._trouble(event, event.subject, longer=20.0)
        self.boxes[event.subject].mute_until = self.sim.now + event.lasts

    def _slurmd_starts(self, name: str, boot: int) -> None:
        if self.boxes[name].boot == boot and self.boxes[name].on:
            self.slurm.slurmd_starts(name)

    def _kubelet_down(self, event: Event) -> None:
        self._trouble(event, event.subject, longer=2.0)
        self.kube.kubelets[event.subject] = False
        self.sim.after(event.lasts, self._kubelet_up, event.subject, self.boxes[event.subject].boot)

    def _kubelet_up(self, name: str, boot: int) -> None:
        if self.boxes[name].boot == boot and self.boxes[name].on:
            self.kube.restart(name, booted=False)

    def _node_lost(self, event: Event) -> None:
        box = self.boxes[event.subject]
        self._trouble(event, box.name, longer=2.0)
        box.online = False
        self.sim.after(event.lasts, self._node_found, box)

    def _node_found(self, box: Box) -> None:
        box.online = True
        if box.on:
            self.kube.restart(box.name, booted=False)
            self.slurm.register(box.name)

    def _node_loses_power(self, event: Event) -> None:
        box = self.boxes[event.subject]
        self._trouble(event, box.name, longer=2.0)
        self._shake(box.name)
        self.slurm.power_off(box.name)
        self.kube.power_off(box)
        self.kube.kubelets[box.name] = False
        self._cut(box)
        self.sim.after(event.lasts, self._power_on, box)

    def _shake(self, name: str) -> None:
        for run in self.history.runs:
            if name in run.nodes:
                run.shaken = min(run.shaken, self.sim.now)

    def _cut(self, box: Box) -> None:
        """All programs end; what is not on the disk is gone, and some of what was just written there."""
        for process in list(box.processes):
            process.kill(noticed=False)
        for name, (since, before) in box.young.items():
            if self.sim.now - since < 5.0 and self.slurm.rng.random() < 0.5:
                if before is None:
                    box.notes.pop(name, None)
                else:
                    box.notes[name] = before
        box.young.clear()
        box.locks.clear()
        for path in [path for path in box.files if path.startswith("/jobs/")]:
            del box.files[path]
        box.on, box.boot, box.scripts = False, box.boot + 1, 0

    def _power_on(self, box: Box) -> None:
        """The gate's look before slurmd, then the daemons, then the timer."""
        if box.on:
            return
        box.on, box.up_since = True, self.sim.now
        self.server.version += 1
        self.sim.after(AT_BOOT_S, self._tick, box, box.boot)
        if box.name != "ctl":
            self.sim.after(self.slurm.rng.uniform(0.5, 10.0), self.kube.restart, box.name, True)
            Process(self.system, box, "boot", {}, lambda _: self._slurmd_starts(box.name, box.boot))

    def _person_releases(self, event: Event) -> None:
        """Of the group drawbridge:platform: a closed node is given away for a while."""
        if self.server.value(event.subject) == CLOSED:
            self._trouble(event, event.subject)
            self.server.edit_node(event.subject, lambda it: it["spec"].update(taints=[]))
            self.sim.after(event.lasts, self._person_encloses, event.subject)

    def _person_encloses(self, name: str) -> None:
        if not self.server.value(name):
            ours = {"key": TAINT, "value": CLOSED, "effect": EFFECT}
            self.server.edit_node(name, lambda it: it["spec"]["taints"].append(ours))

    def _person_drains(self, event: Event) -> None:
        self.slurm.set_node(event.subject, "bad disk, call Ben", by=PERSON)

    def _person_resumes(self, event: Event) -> None:
        self.slurm.resume(event.subject, by=PERSON)

    def _foreign_taint_first(self, event: Event) -> None:
        foreign = {"key": "somebody.else/busy", "value": "yes", "effect": "NoSchedule"}
        self.server.edit_node(event.subject, lambda it: it["spec"]["taints"].insert(0, foreign))

    def _foreign_taint_gone(self, event: Event) -> None:
        def only_ours(it: Json) -> None:
            it["spec"]["taints"] = [taint for taint in it["spec"]["taints"] if taint["key"] == TAINT]

        self.server.edit_node(event.subject, only_ours)

    def _foreign_label(self, event: Event) -> None:
        self.server.edit_node(event.subject, lambda it: it["metadata"]["labels"].update(rack="7"))

    def _pod_deleted_by_force(self, event: Event) -> None:
        bound = [it for it in self.server.items_of("pods") if it[1]["spec"].get("nodeName") == event.subject]
        if bound:
            self.server.drop(bound[0][0])

    def _clock_jumps(self, event: Event) -> None:
        self.boxes[event.subject].skew += self.slurm.rng.choice((-90.0, 90.0))

    def _controller_s_clock_jumps(self, _: Event) -> None:
        self.boxes["ctl"].skew += self.slurm.rng.choice((-90.0, 90.0))

    def _foreign_process_on_a_gpu(self, event: Event) -> None:
        self._trouble(event._replace(name=GPU_USED), event.subject)
        pid = len(self.history.troubles)
        self.boxes[event.subject].gpus[pid] = "miner"
        self.sim.after(event.lasts, lambda: self.boxes[event.subject].gpus.pop(pid, None))

    # the end

    def _wind_up(self) -> None:
        """What is wrong is over by the plan's own times; now the jobs end, too."""
        if not self.slurm.up:
            self.sim.after(1.0, self._wind_up)
            return
        self.system.trace("****", "all jobs are cancelled")
        for job in list(self.slurm.jobs.values()):
            self.slurm.cancel(job)

    def outcome(self) -> Outcome:
        """What the schedule showed, judged."""
        history = self.history
        history.end = self.sim.now
        self.kube.still_running()
        self.server.finish()
        history.left = [*self._objects_left(), *self._notes_left()]
        edges = Counter((kind_of(it.before), kind_of(it.after)) for it in history.changes)
        system, faults = self.system, self.system.faults
        found = breaches(history, SETTINGS["pod_grace_s"], SETTINGS["stuck_s"])
        return Outcome(found, faults.met, faults.steps, system.events, edges, system.lines)

    def _objects_left(self) -> list[str]:
        found = []
        for path, it in self.server.objects.items():
            if "/nodes/" not in path:
                found.append(path)
            elif place(it)[1] != "closed":
                found.append(f"node {it['metadata']['name']}, {place(it)[1]}")
        return found

    def _notes_left(self) -> list[str]:
        notes = [(box, name) for box in self.boxes.values() for name in box.notes if name.startswith("run-")]
        files = [(box, name) for box in self.boxes.values() for name in box.files if name.startswith("/jobs/")]
        return [f"{name} on {box.name}" for box, name in notes + files]


def kind_of(value: str) -> str:
    """A state without whose it is."""
    return value if value in ("", "closed") else "dirty" if value.startswith("dirty_") else "held"
