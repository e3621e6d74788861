# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How slurmctld and the slurmds die and come back, what they forget, and how they find each other again."""

from __future__ import annotations

import copy
from functools import partial

from .jobs import ALIVE, Job, poor, user_gone
from .plan import JobSpec
from .records import NEVER, Run
from .slurm import Jobs

SLURMD_TIMEOUT_S = 60.0
LOST_RESULT_S = 57.0
"""Then slurmctld asks a new slurmd about an epilog that the old one had begun, and takes any answer for done."""


class Slurm(Jobs):
    """slurmctld with its nodes."""

    def ctld_stops(self) -> None:
        """slurmctld ends, and its scripts with it."""
        self.up = False
        for process in [it for it in self.ctl.processes if it.verb in ("open", "end")]:
            process.kill(noticed=False)

    def believe_prologs(self) -> list[Job]:
        """Jobs whose PrologSlurmctld is at work count as started."""
        believed = [job for job in self.jobs.values() if job.state == "CONFIGURING" and job.run]
        for job in believed:
            job.opened(self.sim.now)
        return believed

    def start_steps(self, later: float, believed: list[Job]) -> None:
        """The nodes' prologs run with a job's first step: soon with srun, whenever its user likes with salloc."""
        for job in believed:
            if not job.spec.batch and job.state == "RUNNING":
                self.sim.after(later, self._first_step, job, job.generation)

    def _first_step(self, job: Job, generation: int) -> None:
        if job.generation == generation:
            self._launch(job)

    def start_beside(self, believed: list[Job]) -> None:
        """The nodes' prologs run while PrologSlurmctld runs again; its result does not matter any more."""
        for job in (it for it in believed if it.state == "RUNNING"):
            self._prolog(job)
            self._launch(job)

    def save(self) -> None:
        """What a slurmctld that dies badly will find of its state."""
        self.saved = {number: self._copy(job) for number, job in self.jobs.items()}

    def forget(self, number: int) -> None:
        """slurmctld ends, and has not written down that this job was ever submitted."""
        job = self.jobs.pop(number)
        if job.run:
            self._shaken(job.run, True, job.state)
        self.save()
        self.ctld_stops()

    @staticmethod
    def _copy(job: Job) -> Job:
        twin = copy.copy(job)
        twin.ready, twin.closing = set(job.ready), set(job.closing)
        return twin

    def ctld_starts(self) -> None:
        """Scripts of jobs that are starting or ending run again; nodes tell what they have."""
        self.up = True
        if self.saved is not None:
            self._recall(self.saved)
        for job in list(self.jobs.values()):
            if job.state == "CONFIGURING":
                job.generation += 1
                self._prolog(job)
                if not self.prolog_waits:
                    self._launch(job)
            elif job.state == "COMPLETING" and (job.ending or self.rng.random() < 0.5):
                self._epilog(job)
        self.sim.after(1.0, self._register_all)

    def _recall(self, saved: dict[int, Job]) -> None:
        """Jobs as they were when the state was last saved; what happened since is not known."""
        for number, job in self.jobs.items():
            if job.run:
                self._shaken(job.run, number not in saved or saved[number].run is not job.run, job.state)
        for job in saved.values():
            known = self.jobs.get(job.number)
            job.generation = (known or job).generation + 10
            self._remember(job)
        self.jobs, self.saved = saved, None
        for name, node in self.nodes.items():
            node.job = next((it.number for it in saved.values() if name in it.nodes and it.state != "PENDING"), 0)
        for job in saved.values():
            if job.state == "COMPLETING":
                for name in sorted(job.closing):
                    self._deliver(name, 0.1, self._terminate, job, job.generation, name)

    def _shaken(self, run: Run, forgotten: bool, state: str) -> None:
        run.shaken = min(run.shaken, self.sim.now)
        if forgotten or state == "COMPLETING":
            run.over = min(run.over, self.sim.now)

    def _remember(self, job: Job) -> None:
        """What Slurm believes to go on is a run of its own from now on."""
        if job.run and job.run.over != NEVER and job.state in ALIVE:
            job.run = copy.copy(job.run)
            job.run.start = job.run.shaken = self.sim.now
            job.run.works = job.run.over = NEVER
            job.run.runs = NEVER if job.state == "CONFIGURING" else self.sim.now
            self.history.runs.append(job.run)
        for name in job.nodes:
            if job.run:
                job.run.left.pop(name, None)

    def forget_everything(self) -> None:
        """slurmctld starts with an empty state."""
        for job in self.jobs.values():
            if job.run:
                job.run.over = min(job.run.over, self.sim.now)
        self.jobs, self.saved = {}, None
        for node in self.nodes.values():
            node.job = 0

    def _register_all(self) -> None:
        for name in self.nodes:
            if self._answers(name):
                self.register(name)

    def register(self, name: str) -> None:
        """A slurmd tells which jobs it has: those that are not its any more end there; a job that it lacks is lost."""
        node = self.nodes[name]
        if not (self.up and self._answers(name)):
            self.sim.after(1.0, self.register, name)
            return
        for number in list(node.jobs):
            job = self.jobs.get(number)
            if number in node.prologs or (job and name in job.nodes and job.state in (*ALIVE, "COMPLETING")):
                continue
            _, env = node.jobs.pop(number)
            gone = job or Job(JobSpec(), number)
            user_gone(node, gone)
            self._run_epilog(name, poor(env, self.rng), partial(self._aborted, gone, name))
        job = self.jobs.get(node.job)
        lost = job and job.state == "RUNNING" and job.nodes[0] == name and name in job.ready
        if job and lost and job.number not in node.jobs and node.box.boot == 1:
            self._end(job, "PENDING" if job.again else "FAILED")

    def _aborted(self, job: Job, name: str, code: int | None) -> None:
        self.nodes[name].box.scripts -= 1
        self._dispatched(name, "epilog", job, code)

    def slurmd_dies(self, name: str) -> None:
        """kill -9: scripts continue, but their results are lost."""
        node = self.nodes[name]
        node.slurmd, node.life = False, node.life + 1
        job = self.jobs.get(node.job)
        if job and job.run:
            job.run.shaken = min(job.run.shaken, self.sim.now)
        if job and job.state == "COMPLETING" and name in job.closing and job.number not in node.jobs:
            self._deliver(name, LOST_RESULT_S, self._epilogued, job, job.generation, name, 0)

    def slurmd_starts(self, name: str) -> None:
        """It has what its steps' daemons tell it."""
        self.nodes[name].slurmd = True
        self.sim.after(0.5, self.register, name)

    def power_off(self, name: str) -> None:
        """Nothing of any job is left on the host."""
        node = self.nodes[name]
        self.slurmd_dies(name)
        node.jobs.clear()
        node.prologs.clear()
        node.box.steps.clear()
        node.box.scripts = 0

    def ping(self) -> None:
        """Nodes that have not answered for too long are down, with a reason that says so."""
        for name, node in self.nodes.items():
            if self._answers(name):
                node.silent = NEVER
            elif node.silent == NEVER:
                node.silent = self.sim.now
            elif self.up and not node.down and self.sim.now - node.silent > SLURMD_TIMEOUT_S:
                self._lose(name)
        self.schedule()
        self.sim.after(5.0, self.ping)

    def _lose(self, name: str) -> None:
        node = self.nodes[name]
        self.set_node(name, "Not responding", by="slurm", down=True)
        job = self.jobs.get(node.job)
        if job and job.run:
            job.run.shaken = min(job.run.shaken, self.sim.now)
        if job and job.state in ALIVE:
            self._end(job, "PENDING" if job.again else "NODE_FAIL", without=name)
        elif job:
            self._epilogued(job, job.generation, name, 0)
        node.job = 0
