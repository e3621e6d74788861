# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Slurm's commands and a host's programs print, in the words of the real ones (Slurm 24.11.5, containerd)."""

from __future__ import annotations

from collections.abc import Sequence

from roles.slurm_gate.files.gate.command import Said
from roles.slurm_gate.files.gate.slurm import SEPARATOR

from .hosts import Box, Process
from .slurm import Job, Jobs, Node

NO_SLURM = Said(1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
SILENT_S = 1.0
BAD_JOB = Said(1, "", "slurm_load_jobs error: Invalid job id specified")


class Answers:
    """Stands in for the programs."""

    def __init__(self, slurm: Jobs) -> None:
        self.slurm = slurm

    def __call__(self, process: Process, argv: Sequence[str]) -> Said:
        tool, words, box = argv[0].rpartition("/")[2], list(argv[1:]), process.box
        if tool == "ctr":
            return containers(box, words)
        if tool == "nvidia-smi":
            return Said(0, "".join(f"{pid}, {name}\n" for pid, name in box.gpus.items()))
        if words[:1] == ["listpids"]:
            return steps(box, words[1:])
        if not (self.slurm.up and self.slurm.ctl.on and box.online):
            process.sim.sleep(SILENT_S)
            return NO_SLURM
        return self._squeue(words) if tool == "squeue" else self._change(tool, words)

    def _squeue(self, words: list[str]) -> Said:
        number = next((int(word[7:]) for word in words if word.startswith("--jobs=")), None)
        if number is None:
            alive = [job for job in self.slurm.jobs.values() if state(job) in ("RUNNING", "CONFIGURING", "SUSPENDED")]
            return Said(0, "".join(f"{job.number} {','.join(job.nodes)}\n" for job in alive))
        found = self._named(str(number))
        return Said(0, "".join(map(self._line, found))) if found else BAD_JOB

    def _named(self, name: str) -> list[Job]:
        """Jobs that a name stands for: an array's number for all of its elements, though it is the last one's."""
        number, _, task = name.partition("_")
        array = [job for job in self.slurm.jobs.values() if job.spec.tasks and job.array == int(number)]
        if array:
            return [job for job in array if task in ("", str(job.spec.task))]
        return [job] if (job := self.slurm.jobs.get(int(number))) else []

    def _line(self, job: Job) -> str:
        used = int(self.slurm.sim.now - job.run.start) if job.run and job.nodes else 0
        clock = (
            f"{used // 3600:02}:{used // 60 % 60:02}:{used % 60:02}" if used >= 3600 else f"{used // 60}:{used % 60:02}"
        )
        host = job.nodes[0] if job.nodes else "n/a"
        words = (
            state(job),
            str(int(job.spec.batch)),
            str(int(job.spec.requeue)),
            str(job.restarts),
            clock,
            host,
            "None",
            ",".join(job.nodes),
            str(job.number),
        )
        return SEPARATOR.join(words) + SEPARATOR + "\n"

    def _change(self, tool: str, words: list[str]) -> Said:
        slurm = self.slurm
        if words[:2] == ["show", "node"]:
            return Said(0, node_text(words[2], slurm.nodes[words[2]])) if tool == "scontrol" else BAD_JOB
        if "--oneliner" in words:
            return Said(0, node_text(words[-1], slurm.nodes[words[-1]]))
        if words[0] == "update" and words[1].startswith("nodename="):
            return self._update_node(words[1][9:], words[2:])
        name = (
            (words[1][6:] if words[0] == "update" else words[0] if tool == "scancel" else words[-1])
            if (words[0] != "notify")
            else words[1]
        )
        said = [self._update_job(tool, words, job) for job in self._named(name)]
        return Said(max(it.code for it in said), "\n".join(it.out for it in said), said[0].err) if said else BAD_JOB

    def _update_job(self, tool: str, words: list[str], job: Job) -> Said:
        self.slurm.system.server.version += words[0] != "show"
        if tool == "scancel":
            self._ended_by_gate(job)
            self.slurm.cancel(job)
        elif words[0] == "show":
            array = f"ArrayJobId={job.array} ArrayTaskId={job.spec.task} " if job.spec.tasks else ""
            return Said(0, f"JobId={job.number} {array}JobName=x\n   AdminComment={job.comment} \n   Comment=hello\n")
        elif words[0] == "update":
            if state(job) not in ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED"):
                return Said(1, "", "Job has already finished")
            job.comment = words[2].partition("=")[2]
        elif words[0].startswith("requeue"):
            self._ended_by_gate(job)
            if not self.slurm.requeue(job, words[0] == "requeuehold"):
                return Said(1, "", "Requested operation is presently disabled")
        return Said(0)

    @staticmethod
    def _ended_by_gate(job: Job) -> None:
        if job.run and job.state in ("RUNNING", "CONFIGURING", "SUSPENDED"):
            job.run.ended_by_gate = True

    def _update_node(self, name: str, words: list[str]) -> Said:
        self.slurm.system.server.version += 1
        if words[0] == "state=resume":
            resumed = self.slurm.resume(name, by="gate")
            return Said(0) if resumed else Said(1, "", "slurm_update error: Invalid node state specified")
        self.slurm.set_node(name, words[1].partition("=")[2], by="gate")
        return Said(0)


def state(job: Job) -> str:
    """As squeue prints it."""
    return job.state


def node_text(name: str, node: Node) -> str:
    """`scontrol --oneliner show node`."""
    base = "DOWN" if node.down else "ALLOCATED" if node.job else "IDLE"
    flags = ("" if node.slurmd and node.box.online else "*") + ("+DRAIN" if node.drained else "")
    reason = f" Reason={node.reason} [root@2026-01-01T00:00:00]" if node.reason else ""
    return f"NodeName={name} Arch=x86_64 State={base}{flags} ThreadsPerCore=1{reason}\n"


def containers(box: Box, words: list[str]) -> Said:
    """`ctr containers list --quiet FILTER...` and `ctr tasks list`."""
    if "containers" in words:
        wanted = {word.rpartition("==")[2] for word in words if word.startswith("labels.")}
        return Said(0, "".join(f"{name}\n" for name, namespace in box.containers.items() if namespace in wanted))
    rows = "".join(f"{name}    7    RUNNING\n" for name in box.containers)
    return Said(0, f"TASK    PID    STATUS\n{rows}")


def steps(box: Box, words: list[str]) -> Said:
    """`scontrol listpids [JOB]`."""
    rows = [(pid, job, step) for job, (pid, step) in box.steps.items() if not words or str(job) == words[0]]
    if not rows:
        return Said(1, "", "There are no job steps on this node")
    return Said(0, "PID      JOBID    STEPID   LOCALID GLOBALID\n" + "".join(f"{p} {j} {s} 0 0\n" for p, j, s in rows))
