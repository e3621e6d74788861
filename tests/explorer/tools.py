# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Slurm's commands and a host's programs print, in the words of the real ones (Slurm 24.11.5, containerd)."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence

from roles.slurm_gate.files.gate.command import Result
from roles.slurm_gate.files.gate.slurm import SEPARATOR

from .hosts import Box, Contained, Process
from .jobs import Job, Node
from .slurm import Jobs

NO_SLURM = Result(1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
SILENT_S = 1.0
BAD_JOB = Result(1, "", "slurm_load_jobs error: Invalid job id specified")
FILTER = re.compile(r'labels\."io\.kubernetes\.pod\.(namespace|name)"(==|!=|~=)"?([^"]*)"?')
TESTS = {"==": operator.eq, "!=": operator.ne, "~=": lambda value, wanted: re.search(wanted, value)}


class Answers:
    """A double of the programs."""

    def __init__(self, slurm: Jobs) -> None:
        self.slurm = slurm

    def __call__(self, process: Process, argv: Sequence[str]) -> Result:
        tool, words, box = argv[0].rpartition("/")[2], list(argv[1:]), process.box
        if tool == "ctr":
            process.looked = process.sim.now if "!=" in words[-1] else process.looked
            return containers(box, words)
        if tool == "nvidia-smi":
            return Result(0, "".join(f"{pid}\n" for pid in box.gpus))
        if words[:1] == ["listpids"]:
            return steps(box, words[1:])
        if not (self.slurm.up and self.slurm.ctl.on and box.online):
            process.sim.sleep(SILENT_S)
            return NO_SLURM
        return self._squeue(words) if tool == "squeue" else self._change(tool, words)

    def _squeue(self, words: list[str]) -> Result:
        number = next((int(word[7:]) for word in words if word.startswith("--jobs=")), None)
        if number is None:
            asked = next((word[12:].split(",") for word in words if word.startswith("--partition=")), [])
            ours = [job for job in self.slurm.jobs.values() if job.spec.partition in asked]
            alive = [job for job in ours if job.state in ("RUNNING", "CONFIGURING", "SUSPENDED")]
            who = "{} " if "--format=%A %U %N" in words else ""
            return Result(
                0, "".join(f"{job.number} {who.format(job.spec.uid)}{','.join(job.nodes)}\n" for job in alive)
            )
        form = next(word[9:] for word in words if word.startswith("--Format="))
        fields, found = [it.partition(":")[0] for it in form.split(",")], self._named(str(number))
        return Result(0, "".join(self._line(job, fields) for job in found)) if found else BAD_JOB

    def _named(self, name: str) -> list[Job]:
        """Jobs that a name stands for: an array's number for all of its elements, though it is the last one's."""
        number, _, task = name.partition("_")
        array = [job for job in self.slurm.jobs.values() if job.spec.tasks and job.array == int(number)]
        if array:
            return [job for job in array if task in ("", str(job.spec.task))]
        return [job] if (job := self.slurm.jobs.get(int(number))) else []

    def _line(self, job: Job, fields: Sequence[str]) -> str:
        used = int(self.slurm.sim.now - job.run.start) if job.run and job.nodes else 0
        clock = (
            f"{used // 3600:02}:{used // 60 % 60:02}:{used % 60:02}" if used >= 3600 else f"{used // 60}:{used % 60:02}"
        )
        host = job.nodes[0] if job.nodes else "n/a"
        words = {
            "State": job.state,
            "BatchFlag": str(int(job.spec.batch)),
            "Requeue": str(int(job.spec.requeue)),
            "RestartCnt": str(job.restarts),
            "TimeUsed": clock,
            "BatchHost": host,
            "Reason": "None",
            "NodeList": ",".join(job.nodes),
            "Partition": job.spec.partition,
            "UserID": str(job.spec.uid),
            "JobID": str(job.number),
            "JobArrayID": f"{job.array}_{job.spec.task}" if job.spec.tasks else str(job.number),
            "admin_comment": job.comment or "(null)",
        }
        return "".join(words[field] + SEPARATOR for field in fields) + "\n"

    def _change(self, tool: str, words: list[str]) -> Result:
        slurm = self.slurm
        if words[:2] == ["show", "node"]:
            return Result(0, node_text(words[2], slurm.nodes[words[2]])) if tool == "scontrol" else BAD_JOB
        if "--oneliner" in words:
            return Result(0, node_text(words[-1], slurm.nodes[words[-1]]))
        if words[0] == "update" and words[1].startswith("nodename="):
            return self._update_node(words[1][9:], words[2:])
        named = words[1][6:] if words[0] == "update" else words[0] if tool == "scancel" else words[-1]
        name = words[1] if words[0] == "notify" else named
        said = [self._update_job(tool, words, job) for job in self._named(name)]
        return Result(max(it.code for it in said), "\n".join(it.out for it in said), said[0].err) if said else BAD_JOB

    def _update_job(self, tool: str, words: list[str], job: Job) -> Result:
        self.slurm.system.server.version += 1
        if tool == "scancel":
            self._ended_by_gate(job)
            self.slurm.cancel(job)
        elif words[0] == "update":
            if job.state not in ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED"):
                return Result(1, "", "Job has already finished")
            job.comment = words[2].partition("=")[2]
        elif words[0].startswith("requeue"):
            self._ended_by_gate(job)
            if not self.slurm.requeue(job, words[0] == "requeuehold"):
                return Result(1, "", "Requested operation is presently disabled")
        return Result(0)

    @staticmethod
    def _ended_by_gate(job: Job) -> None:
        if job.run and job.state in ("RUNNING", "CONFIGURING", "SUSPENDED"):
            job.run.ended_by_gate = True

    def _update_node(self, name: str, words: list[str]) -> Result:
        self.slurm.system.server.version += 1
        if words[0] == "state=resume":
            resumed = self.slurm.resume(name, by="gate")
            return Result(0) if resumed else Result(1, "", "slurm_update error: Invalid node state specified")
        self.slurm.set_node(name, words[1].partition("=")[2], by="gate")
        return Result(0)


def node_text(name: str, node: Node) -> str:
    """`scontrol --oneliner show node`."""
    base = "DOWN" if node.down else "ALLOCATED" if node.job else "IDLE"
    flags = ("" if node.slurmd and node.box.online else "*") + ("+DRAIN" if node.drained else "")
    reason = f" Reason={node.reason} [root@2026-01-01T00:00:00]" if node.reason else ""
    return f"NodeName={name} Arch=x86_64 State={base}{flags} ThreadsPerCore=1{reason}\n"


def containers(box: Box, words: list[str]) -> Result:
    """`ctr containers list --quiet FILTER...` and `ctr tasks list`."""
    if "containers" in words:
        filters = words[words.index("--quiet") + 1 :]
        chosen = [name for name, it in box.containers.items() if any(passes(it, words) for words in filters)]
        return Result(0, "".join(f"{name}\n" for name in chosen))
    rows = "".join(f"{name}    {it.pid}    RUNNING\n" for name, it in box.containers.items())
    return Result(0, f"TASK    PID    STATUS\n{rows}")


def passes(it: Contained, words: str) -> bool:
    """A filter lets a container through: what its commas part must all be so."""
    said, tests = {"namespace": it.namespace, "name": it.pod}, [FILTER.fullmatch(word) for word in words.split(",")]
    assert all(tests), f"containerd knows no filter like {words}"
    return all(TESTS[test[2]](said[test[1]], test[3]) for test in tests if test)


def steps(box: Box, words: list[str]) -> Result:
    """`scontrol listpids [JOB]`."""
    rows = [(pid, job, step) for job, (pid, step) in box.steps.items() if not words or str(job) == words[0]]
    if not rows:
        return Result(1, "", "There are no job steps on this node")
    return Result(
        0, "PID      JOBID    STEPID   LOCALID GLOBALID\n" + "".join(f"{p} {j} {s} 0 0\n" for p, j, s in rows)
    )
