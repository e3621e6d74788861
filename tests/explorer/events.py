# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of jobs and what fails, as plans name it: each has the method of its name, or a line in ENDS."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

from roles.slurm_gate.files.gate.gate_names import CLOSED, EFFECT, TAINT
from roles.slurm_gate.files.gate.opener import ADMISSION
from roles.slurm_gate.files.gate.states import Json

from .daemons import Slurm
from .hosts import Box, Contained, Process, System
from .jobs import Job
from .kube import Kube
from .plan import NODES, TENANTS, Event, JobSpec, Plan
from .records import EVERYWHERE, FOREIGN_POD, GPU_USED, PERSON, History, Trouble
from .server import Server
from .sim import Sim
from .slurm import REQUEUE_S

AT_BOOT_S = 10.0


ENDS: dict[str, Callable[[Slurm, Job], object]] = {
    "cancelled": lambda slurm, job: slurm.cancel(job),
    "timed out": lambda slurm, job: job.state == "RUNNING" and slurm.cancel(job, "TIMEOUT"),
    "requeued": lambda slurm, job: slurm.requeue(job),
    "preempted": lambda slurm, job: slurm.requeue(job) or slurm.cancel(job, "PREEMPTED"),
    "shrunk": lambda slurm, job: slurm.shrink(job),
}


class Events(ABC):
    """Everything that a schedule's events do to the model."""

    plan: Plan
    sim: Sim
    history: History
    server: Server
    system: System
    boxes: dict[str, Box]
    kube: Kube
    slurm: Slurm

    @abstractmethod
    def tick(self, box: Box, boot: int) -> None:
        """drawbridge-gate.timer of a host that was booted so often."""

    @abstractmethod
    def note_guards(self) -> None:
        """gate.yml tells the controller which admission policies there are."""

    def _begin(self, event: Event) -> None:
        """Let the method of the event's name do it."""
        self.system.trace("****", f"{event.name} {event.subject or ''}")
        self.server.version += 1
        if event.name in ENDS:
            if job := self._job(event):
                ENDS[event.name](self.slurm, job)
            return
        getattr(self, "_" + re.sub("[^a-z]+", "_", event.name.lower()))(event)

    # what becomes of jobs

    def _job(self, event: Event) -> Any:
        job = self.slurm.jobs.get(event.subject)
        if job and not self.slurm.up:
            self.sim.after(1.0, self._begin, event)
            return None
        return job

    def _requeued_its_scripts_again_later(self, event: Event) -> None:
        if (job := self._job(event)) and self.slurm.requeue(job):
            self.sim.after(REQUEUE_S + event.lasts, self.slurm.late_scripts, job.number)

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

    def _forgotten_its_number_given_again(self, event: Event) -> None:
        """Another user's job gets the number while the first job's objects may still exist."""
        if (job := self._job(event)) and job.gated and not job.spec.tasks:
            self._trouble(event)
            self.slurm.forget(job.number)
            self.sim.after(event.lasts, self._ctld_starts)
            at = event.lasts + self.slurm.rng.choice((0.05, 1.0, 10.0))
            self.sim.after(at, self.slurm.submit, self._another_users(job.spec), job.number)

    def _another_users(self, spec: JobSpec) -> JobSpec:
        rng = self.slurm.rng
        account, uid = rng.choice([(spec.account, 2009), *(it for it in TENANTS if it[0] != spec.account)])
        partition = rng.choice(("ai-train", "ai-train", "ai-train", "hpc"))
        return spec._replace(account=account, uid=uid, partition=partition, nodes=rng.choice((1, 1, 2)))

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
        """One is gone, or not as gate.yml has left it, or all are there and not in force."""
        server, rng = self.server, self.slurm.rng
        server.policies_off_since = min(server.policies_off_since, self.sim.now)
        path, it = rng.choice([it for it in server.objects.items() if it[0].startswith(ADMISSION)])
        how = rng.choice(("gone", "changed", "not in force"))
        if how == "gone":
            del server.objects[path]
        it["metadata"]["generation"] += how == "changed"
        server.policies &= how != "not in force"
        self.sim.after(event.lasts, self._policies_back, path, it)

    def _policies_back(self, path: str, it: Json) -> None:
        """gate.yml corrects each object that differs."""
        self.server.policies, self.server.policies_off_since = True, float("inf")
        it["metadata"]["generation"] += 1
        self.server.objects[path] = it
        self.note_guards()

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

    def _slurmctld_dies_in_a_prolog_and_gives_its_number_again(self, event: Event) -> None:
        """At any moment of it, or as soon as the job holds a node, before it has an identity."""
        at_once = self.slurm.rng.random() < 0.5

        def die() -> None:
            job = next((it for it in self.slurm.jobs.values() if it.state == "CONFIGURING"), None)
            if not job or self.sim.now + event.lasts >= self.plan.over_at:
                return
            if at_once or any(map(self.server.label, job.nodes)):
                self._forgotten_its_number_given_again(event._replace(subject=job.number))
            else:
                self.sim.after(0.005, die)

        self.slurm.script_faults["open"] = die

    def _slurmctld_stops_in_a_prolog_and_forgets_it(self, event: Event) -> None:
        """25.11.7 and 26.05: it counts as a success. A batch job never starts; srun lets the nodes' prologs run."""
        later = partial(self.slurm.start_steps, self.slurm.rng.uniform(1.0, 60.0))
        self.slurm.script_faults["open"] = partial(self._stopped_in_a_prolog, event, later)

    def _slurmctld_starts_a_job_beside_its_prolog(self, event: Event) -> None:
        """24.11, when a primary controller returns."""
        self.slurm.script_faults["open"] = partial(self._stopped_in_a_prolog, event, self.slurm.start_beside)

    def _stopped_in_a_prolog(self, event: Event, then: Callable[[list[Job]], None]) -> None:
        if not self.slurm.up or self.sim.now + event.lasts >= self.plan.over_at:
            return
        self._trouble(event)
        believed = self.slurm.believe_prologs()
        self.slurm.ctld_stops()
        self.sim.after(event.lasts, self._ctld_starts)
        self.sim.after(event.lasts + 0.01, then, believed)

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
        self.slurm.nodes[event.subject].script_faults["deliver_token"] = partial(self._slurmd_killed, event)

    def _slurmd_killed_in_an_epilog(self, event: Event) -> None:
        self.slurm.nodes[event.subject].script_faults["close"] = partial(self._slurmd_killed, event)

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
        """All programs end; all that is not on the disk is lost, and some of the latest writes to it."""
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
        self.sim.after(AT_BOOT_S, self.tick, box, box.boot)
        if box.name != "ctl":
            self.sim.after(self.slurm.rng.uniform(0.5, 10.0), self.kube.restart, box.name, True)
            Process(self.system, box, "boot", {}, lambda _: self._slurmd_starts(box.name, box.boot))

    def _person_releases(self, event: Event) -> None:
        """Of the group drawbridge:platform: a closed node is given away for a while."""
        if self.server.value(event.subject) == CLOSED:
            self._trouble(event, event.subject)
            self.server.edit_node(event.subject, lambda it: it["spec"].update(taints=[]))
            self.sim.after(event.lasts, self._person_closes, event.subject)

    def _person_closes(self, name: str) -> None:
        if not self.server.value(name):
            ours = {"key": TAINT, "value": CLOSED, "effect": EFFECT}
            self.server.edit_node(name, lambda it: it["spec"]["taints"].append(ours))

    def _person_drains(self, event: Event) -> None:
        self.slurm.set_node(event.subject, "bad disk, call Ben", by=PERSON)

    def _person_resumes(self, event: Event) -> None:
        self.slurm.resume(event.subject, by=PERSON)

    def _foreign_taint_first(self, event: Event) -> None:
        foreign = {"key": "example.org/busy", "value": "yes", "effect": "NoSchedule"}
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

    def _foreign_pod(self, event: Event) -> None:
        """Older than the policies, it tolerates everything: its kubelet starts it, whoever has the node."""
        box, number = self.boxes[event.subject], len(self.history.troubles)
        if box.on:
            self._trouble(event._replace(name=FOREIGN_POD), box.name)
            whose = self.slurm.rng.choice((("guests", "slurm-1-guest"), ("guests", "daemon"), ("vision", "daemon")))
            box.containers[f"c-foreign-{number}"] = Contained(*whose, 100 + number)
            self.sim.after(event.lasts, box.containers.pop, f"c-foreign-{number}", None)
