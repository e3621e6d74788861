# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm, as far as the gate can tell: what slurmctld and the slurmds do with jobs, when they run which script, what
they forget. Seen on 24.11.5, with PrologFlags=Alloc, nohold_on_prolog_fail and ReturnToService=0.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from roles.slurm_gate.files.gate import identity

from .hosts import Box, Process, System, wall
from .invariants import DUPLICATE
from .jobs import ALIVE, Job, Node, environment, poor, token_of, user_gone
from .kube import Kube
from .plan import JobSpec
from .records import NEVER, Drain, Run

REQUEUE_S = 121.0


class Jobs:
    """The lives of jobs: what slurmctld starts and ends, which scripts run when, and what people ask of it."""

    def __init__(self, system: System, kube: Kube, boxes: dict[str, Box], ctl: Box, rng: random.Random) -> None:
        self.system, self.sim, self.kube, self.ctl, self.rng = system, system.sim, kube, ctl, rng
        self.history = system.server.history
        self.nodes = {name: Node(box) for name, box in boxes.items()}
        self.jobs: dict[int, Job] = {}
        self.up, self.saved = True, None
        self.shut = False
        """No user submits any more."""
        self.script_faults: dict[str, Callable[[], None]] = {}
        """What befalls slurmctld while its next script of a kind is at work."""
        self.cancels_opener, self.prolog_waits = True, True
        self._old: dict[int, Mapping[str, str]] = {}

    # submitting, scheduling

    def submit(self, spec: JobSpec, number: int) -> None:
        """sbatch, srun or salloc."""
        if self.shut or number in self.jobs:
            return
        if not self.up:
            self.sim.after(2.0, self.submit, spec, number)
            return
        self.jobs[number] = Job(spec, number)
        self.schedule()

    def schedule(self) -> None:
        """Start what can start."""
        if not (self.up and self.ctl.on):
            return
        for job in list(self.jobs.values()):
            if job.state == "PENDING" and not job.held and job.begin <= self.sim.now:
                free = [name for name in self.nodes if self._free(name)]
                if len(free) >= job.spec.nodes:
                    self._start(job, tuple(sorted(self.rng.sample(free, job.spec.nodes))))

    def _free(self, name: str) -> bool:
        node = self.nodes[name]
        return not (node.job or node.drained or node.down) and self._answers(name)

    def _answers(self, name: str) -> bool:
        return (node := self.nodes[name]).slurmd and node.box.on and node.box.online

    def _start(self, job: Job, nodes: tuple[str, ...]) -> None:
        job.nodes, job.state, job.generation = nodes, "CONFIGURING", job.generation + 1
        job.started, job.ready = int(wall(self.sim, self.ctl)), set()
        for name in nodes:
            self.nodes[name].job = job.number
        namespace = job.spec.account if job.gated else ""
        account = identity.name(job.number, job.spec.uid, job.spec.uid)
        job.run = Run(job.number, job.restarts, namespace, nodes, self.sim.now, batch=job.spec.batch, account=account)
        self.history.runs.append(job.run)
        self.system.trace("slurmctld", f"job {job.number} (run {job.restarts}) gets {','.join(nodes)}")
        self._prolog(job)
        if not self.prolog_waits:
            self._launch(job)

    def _prolog(self, job: Job) -> None:
        """PrologSlurmctld; from the start again if slurmctld dies meanwhile."""
        job.opener = self.gate(self.ctl, "open", environment(job), partial(self._opened, job, job.generation))

    def _opened(self, job: Job, generation: int, code: int | None) -> None:
        if job.generation != generation or job.state != "CONFIGURING" or not self.up:
            return
        if code != 0:
            self._end(job, "PENDING" if job.again else "FAILED")
            return
        job.opened(self.sim.now)
        if self.prolog_waits:
            self._launch(job)
        self._work(job)

    def _launch(self, job: Job) -> None:
        for name in job.nodes:
            self._deliver(name, 0.02, self._slurmd_prolog, job, job.generation, name)

    def _deliver(self, name: str, delay: float, call: Callable[..., None], job: Job, *args: Any) -> None:
        """A message between slurmctld and a slurmd: repeated until both are up, or the job is gone."""
        self.sim.after(delay, self._arrive, name, call, job, *args)

    def _arrive(self, name: str, call: Callable[..., None], job: Job, *args: Any) -> None:
        if self.jobs.get(job.number) is not job:
            return
        if self.up and self.ctl.on and self._answers(name):
            call(job, *args)
        else:
            self.sim.after(1.0, self._arrive, name, call, job, *args)

    # a run

    def _slurmd_prolog(self, job: Job, generation: int, name: str) -> None:
        node = self.nodes[name]
        if job.generation != generation:
            return
        if job.spec.batch and name == job.nodes[0] and job.number in node.jobs:
            self._given_twice(job, name)
            return
        env = environment(job, name)
        node.jobs[job.number] = (node.life, env)
        node.prologs.add(job.number)
        node.box.scripts += 1
        self.gate(node.box, "deliver_token", env, partial(self._prologued, job, generation, name, node.life))

    def _given_twice(self, job: Job, name: str) -> None:
        """slurmd has the job already, and slurmctld had forgotten it."""
        if not self.nodes[name].reason_now:
            self.set_node(name, DUPLICATE, by="slurm")
        self._end(job, "PENDING" if job.again else "FAILED")

    def _prologued(self, job: Job, generation: int, name: str, life: int, code: int | None) -> None:
        node = self.nodes[name]
        node.prologs.discard(job.number)
        node.box.scripts -= 1
        if node.life == life:
            self._dispatched(name, "prolog", job, code)
            self._deliver(name, 0.01, self._ready, job, generation, name, code)

    def _dispatched(self, name: str, kind: str, job: Job, code: int | None) -> None:
        """The dispatcher's own drain, which Slurm keeps; the gate may have been quicker."""
        node = self.nodes[name]
        if code != 0 and not node.reason_now and self.up and node.box.online:
            how = f"ended with code {137 if code is None else code}"
            self.set_node(name, f"drawbridge: {kind} part 50-gate {how} in job {job.number}", by="dispatcher")

    def _ready(self, job: Job, generation: int, name: str, code: int | None) -> None:
        if job.generation != generation:
            return
        if code != 0:
            if not self.nodes[name].reason_now:
                self.set_node(name, "Prolog error", by="slurm")
            self._end(job, "PENDING" if job.again else "CANCELLED")
            return
        job.ready.add(name)
        self._work(job)

    def _work(self, job: Job) -> None:
        """The batch script starts with the first node's prolog, interactive jobs with the last one's."""
        needed = {job.nodes[0]} if job.spec.batch else set(job.nodes)
        if job.state != "RUNNING" or not job.run or job.run.works != NEVER or not needed <= job.ready:
            return
        job.run.works = self.sim.now
        box = self.nodes[job.nodes[0]].box
        if job.spec.batch or not job.gated:
            box.steps[job.number] = (500_000 + job.number, "batch" if job.spec.batch else "0")
        if not job.gated:
            box.gpus[500_000 + job.number] = "train"
        self.system.trace("slurmd", f"job {job.number} works on {job.nodes[0]}")
        self.sim.after(job.spec.works_s, self._done, job, job.generation)
        if job.gated and job.spec.pods:
            self.sim.after(0.2, self._submit_pods, job, job.generation)

    def _submit_pods(self, job: Job, generation: int) -> None:
        """The batch script's launcher: waits for its token, then makes its workloads."""
        if job.generation != generation:
            return
        box = self.nodes[job.nodes[0]].box
        if job.spec.batch and job.number not in box.steps:
            return
        token, made = token_of(job, box), (job.number, job.restarts, job.spec.pods, job.spec.workloads)
        if not (token and box.online and self.kube.submit(token, *made)):
            self.sim.after(2.0, self._submit_pods, job, generation)

    def _done(self, job: Job, generation: int) -> None:
        """The work is done; the script may have ended its workloads, or not."""
        if job.generation != generation or not job.nodes or job.number not in self.nodes[job.nodes[0]].jobs:
            return
        if job.spec.tidy and job.gated and (token := token_of(job, self.nodes[job.nodes[0]].box)):
            self.kube.finish(token, job.number, job.restarts, job.spec.workloads)
        self._deliver(job.nodes[0], 0.5 if job.spec.tidy else 0.01, self._finished, job, generation)

    def _finished(self, job: Job, generation: int) -> None:
        if job.generation == generation:
            self._end(job, "COMPLETED")

    # the end of a run

    def _end(self, job: Job, after: str, without: str = "") -> None:
        """End this run: its processes, EpilogSlurmctld, the epilogs of its nodes but one that is lost."""
        if job.state not in ALIVE or not job.run:
            return
        if job.state == "CONFIGURING" and self.cancels_opener and job.opener and not job.opener.dead:
            job.opener.kill(noticed=False)
        job.generation, job.state, job.after, job.run.over = job.generation + 1, "COMPLETING", after, self.sim.now
        self.system.trace("slurmctld", f"job {job.number} (run {job.run.run}) is over: {after}")
        if after == "PENDING":
            self._old[job.number] = environment(job)
            job.restarts, job.begin = job.restarts + 1, self.sim.now + REQUEUE_S
        job.closing = {name for name in job.nodes if self.nodes[name].job == job.number}
        for name in job.nodes:
            user_gone(self.nodes[name], job)
        if without:
            self._epilogued(job, job.generation, without, 0)
        self._epilog(job)
        for name in sorted(job.closing):
            self._deliver(name, 0.03, self._terminate, job, job.generation, name)

    def _epilog(self, job: Job) -> None:
        """EpilogSlurmctld; again if slurmctld dies meanwhile."""
        job.ending = True
        self.gate(self.ctl, "end", environment(job), partial(self._ended, job, job.generation))

    def _ended(self, job: Job, generation: int, _code: int | None) -> None:
        if job.generation == generation and self.up:
            job.ending = False
            self._released(job)

    def _terminate(self, job: Job, generation: int, name: str) -> None:
        """A prolog is not interrupted; then the epilog."""
        node = self.nodes[name]
        if job.generation != generation or name not in job.closing:
            return
        if job.number in node.prologs:
            self._deliver(name, 0.5, self._terminate, job, generation, name)
            return
        given, env = node.jobs.pop(job.number, (node.life, {}))
        env = poor(env, self.rng) if given != node.life else environment(job, name)
        self._run_epilog(name, env, partial(self._node_ended, job, generation, name, node.life))

    def _run_epilog(self, name: str, env: Mapping[str, str], done: Callable[[int | None], None]) -> None:
        box = self.nodes[name].box
        box.scripts += 1
        self.gate(box, "close", env, done)

    def late_scripts(self, number: int) -> None:
        """The scripts of a job's last run but one run again, as the one or the other daemon may see fit."""
        if env := self._old.get(number):
            self.gate(self.ctl, "end", env, lambda code: None)
            for name in env["SLURM_JOB_NODELIST"].split(","):
                if self._answers(name):
                    self._run_epilog(name, {**env, "SLURMD_NODENAME": name}, partial(self._late, name))

    def _late(self, name: str, code: int | None) -> None:
        self.nodes[name].box.scripts -= 1
        self._dispatched(name, "epilog", Job(JobSpec(), 0), code)

    def _node_ended(self, job: Job, generation: int, name: str, life: int, code: int | None) -> None:
        node = self.nodes[name]
        node.box.scripts -= 1
        self._dispatched(name, "epilog", job, code)
        if node.life == life:
            self._deliver(name, 0.01, self._epilogued, job, generation, name, code)

    def _epilogued(self, job: Job, generation: int, name: str, code: int | None) -> None:
        if job.generation != generation or name not in job.closing:
            return
        node = self.nodes[name]
        if code != 0 and not node.reason_now:
            self.set_node(name, "Epilog error", by="slurm")
        job.closing.discard(name)
        if node.job == job.number:
            node.job = 0
        self._released(job)

    def _released(self, job: Job) -> None:
        if job.state == "COMPLETING" and not job.closing and not job.ending:
            job.state, job.nodes, job.generation = job.after, (), job.generation + 1
            if job.run:
                job.run.gone = self.sim.now
            self.system.trace("slurmctld", f"job {job.number} is {job.state}")
        self.schedule()

    # commands

    def requeue(self, job: Job, hold: bool = False) -> bool:
        """scontrol requeue, requeuehold, and preemption."""
        if job.state not in ALIVE or not job.again:
            return False
        self._end(job, "PENDING")
        job.held = hold
        return True

    def cancel(self, job: Job, state: str = "CANCELLED") -> None:
        """scancel, or the time limit."""
        if job.state == "PENDING":
            job.state = state
        if job.state == "COMPLETING" and job.after == "PENDING":
            job.after = state
        self._end(job, state)

    def shrink(self, job: Job) -> None:
        """scontrol update NumNodes=: the last node leaves the job, with an epilog."""
        if job.state != "RUNNING" or len(job.nodes) < 2 or not job.run:
            return
        name = job.nodes[-1]
        job.nodes, job.run.left[name] = job.nodes[:-1], self.sim.now
        job.run.shaken, job.run.shrank = min(job.run.shaken, self.sim.now), True
        job.ready.discard(name)
        self.nodes[name].jobs.pop(job.number, None)
        done = partial(self._left, job, name, self.nodes[name].life)
        self._deliver(name, 0.03, lambda _: self._run_epilog(name, environment(job, name), done), job)

    def _left(self, job: Job, name: str, life: int, code: int | None) -> None:
        self.nodes[name].box.scripts -= 1
        self._dispatched(name, "epilog", job, code)
        if self.nodes[name].life == life and self.nodes[name].job == job.number:
            self.nodes[name].job = 0
            self.schedule()

    def set_node(self, name: str, reason: str, by: str, down: bool = False) -> None:
        """Keep jobs off a node. scontrol replaces an earlier reason, be it of long ago; slurmctld itself does not."""
        node = self.nodes[name]
        before, since = node.reason_now, node.since
        if by == "slurm" and node.reason and not node.reason.startswith("Not responding"):
            reason = f"{node.reason} : {reason}" if down else node.reason
        node.reason, node.since = reason, self.sim.now
        node.drained, node.down = node.drained or not down, node.down or down
        self.history.drains.append(Drain(self.sim.now, name, before, node.reason_now, by, since))
        self.system.trace("slurmctld", f"{name}: {reason} ({by})")

    def resume(self, name: str, by: str) -> bool:
        """Let jobs onto a node again."""
        node = self.nodes[name]
        if not node.reason_now:
            return False
        self.history.drains.append(Drain(self.sim.now, name, node.reason_now, "", by, node.since))
        if node.down or not node.job:
            node.reason = ""
        node.drained = node.down = False
        self.system.trace("slurmctld", f"{name} is resumed by {by}")
        self.schedule()
        return True

    def gate(self, box: Box, verb: str, env: Mapping[str, str], done: Callable[[int | None], None]) -> Process:
        """Run the gate's program as one of Slurm's scripts."""
        node = self.nodes.get(box.name)
        if script_faults := (node or self).script_faults.pop(verb, None):
            self.sim.after(self.rng.uniform(0.0, 0.03 if node else 0.3), script_faults)
        return Process(self.system, box, verb, env, done)
