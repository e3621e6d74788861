# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the gate asks Slurm, and what it tells it. No answer is never taken for "there is none"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .command import NO_ANSWER, Commands
from .hostlist import expand

REASON = "drawbridge gate: "
# what Slurm's dispatcher says when the gate's part of a node's script was killed
KILLED = ("drawbridge: prolog part 50-gate ", "drawbridge: epilog part 50-gate ")
# what Slurm says itself when nobody could tell it more
UNTOLD = "Prolog error"
FAILED = (UNTOLD, "Epilog error")
# SIGNALING hides RUNNING as long as a signal of any user is on its way
RUNNING = ("RUNNING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING")
GONE = "GONE"
FIELDS = (
    *("State", "BatchFlag", "Requeue", "RestartCnt", "TimeUsed", "BatchHost", "Reason", "NodeList"),
    *("Partition", "UserID", "JobID"),
)
SEPARATOR = "\x1f"
NOTHING = "(null)"  # what squeue prints for a text that is not set
# What Slurm itself writes when it lost a node; only a proof brings such a node back
LOST = ("Not responding", "Node unexpectedly rebooted", "Node Not Responding")
# ... and puts between a reason that is there, be it of long ago, and its own
APPENDED = " : "
# ... when it started a job again that slurmd still has: it had forgotten the first time, and ends both
TWICE = "Duplicate jobid"


class NoAnswer(Exception):
    """Slurm did not say."""


class JobInfo(NamedTuple):
    """A job as Slurm has it. State GONE: it has no such job."""

    state: str = GONE
    batch: bool = False
    requeue: bool = False
    restarts: int = 0
    age_s: int = 0
    batch_host: str = ""
    reason: str = ""
    nodes: tuple[str, ...] = ()
    partition: str = ""
    uid: int = -1

    @property
    def running(self) -> bool:
        """It is not over: it may use Kubernetes."""
        return self.state in RUNNING

    def has(self, node: str) -> bool:
        """It has the node, from before its prolog to after its epilog."""
        return (self.running or self.state == "COMPLETING") and node in self.nodes


class Running(NamedTuple):
    """A job that is not over: whose it is, and where it runs."""

    uid: int
    nodes: tuple[str, ...]


class NodeInfo(NamedTuple):
    """A node as Slurm has it."""

    states: frozenset[str]
    reason: str
    busy: bool = False
    """A job has CPUs of it. The states of a node that slurmctld has forgotten something about may say otherwise."""

    @property
    def drained_by_us(self) -> bool:
        """Our own drain, which we lift."""
        return "DRAIN" in self.states and self.reason.startswith((REASON, *KILLED))

    @property
    def kept_out(self) -> bool:
        """It takes no jobs, whoever keeps it from them."""
        return bool(self.states & {"DRAIN", "DOWN"})

    @property
    def drained_by_slurm(self) -> bool:
        """A script of the node failed, and Slurm knows no more of it."""
        return "DRAIN" in self.states and self._first in FAILED

    @property
    def drained_untold(self) -> bool:
        """No prolog ran, or none could say why it failed: a slurmctld that was killed loses the order to run it."""
        return "DRAIN" in self.states and self._first == UNTOLD

    @property
    def drained_for_twins(self) -> bool:
        """Slurm gave it a job that was there already, as after a kill of slurmctld."""
        return "DRAIN" in self.states and self._first == TWICE

    @property
    def lost(self) -> bool:
        """Slurm gave it up and keeps it down until somebody proves it."""
        return "DOWN" in self.states and "DRAIN" not in self.states and self.reason.rpartition(APPENDED)[2] in LOST

    @property
    def _first(self) -> str:
        """The reason without what Slurm appends when it loses the node after that."""
        first, appended, last = self.reason.rpartition(APPENDED)
        return first if appended and last in LOST else self.reason


class Slurm:
    """Slurm's commands."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def job(self, number: int) -> JobInfo:
        """One job; a small question, whatever the size of the cluster. Raises NoAnswer.

        An array's number is also that of one of its elements, but Slurm takes it for all of them.
        """
        form = ",".join(f"{field}:0{SEPARATOR}" for field in FIELDS)
        said = self._commands.run(
            "/usr/bin/squeue", "--noheader", "--states=all", f"--jobs={number}", f"--Format={form}"
        )
        if said.code and "Invalid job id" in said.err:
            return JobInfo()
        if said.code:
            raise NoAnswer(said.err or "squeue failed")
        lines = said.out.splitlines()
        return next((parse_job(line) for line in lines if number_of(line) == number), JobInfo())

    def running(self, partitions: Sequence[str]) -> dict[int, Running]:
        """Jobs of these partitions that are not over. Raises NoAnswer."""
        words = ("--states=R,CF,S,ST,SI", f"--partition={','.join(partitions)}", "--format=%A %U %N")
        found = (line.split() for line in self._ask("squeue", "--noheader", *words).splitlines())
        return {int(row[0]): Running(int(row[1]), tuple(expand(row[2])) if len(row) > 2 else ()) for row in found}

    def running_on(self, node: str, partitions: Sequence[str]) -> list[int]:
        """Jobs of these partitions that run on a node. Raises NoAnswer."""
        words = ("--states=R,SI", f"--nodelist={node}", f"--partition={','.join(partitions)}", "--format=%A %N")
        return [int(line.split()[0]) for line in self._ask("squeue", "--noheader", *words).splitlines()]

    def node(self, name: str) -> NodeInfo:
        """One node. Raises NoAnswer."""
        return parse_node(self._ask("scontrol", "--oneliner", "show", "node", name))

    def pids(self) -> dict[int, int]:
        """Processes of jobs on this host, each with its job. Raises NoAnswer."""
        return {int(row[0]): int(row[1]) for row in self._steps() if row[0].isdigit() and row[1].isdigit()}

    def has_batch_step(self, job: int) -> bool:
        """The job's batch script runs on this host. Raises NoAnswer."""
        return any(row[2] == "batch" for row in self._steps(str(job)))

    def _steps(self, *job: str) -> list[list[str]]:
        """Rows of PID, job, step. The steps' daemons answer, no controller is needed; without any the code is 1."""
        said = self._commands.run("/usr/bin/scontrol", "listpids", *job)
        if said.code == NO_ANSWER:
            raise NoAnswer(f"scontrol listpids: {said.err}")
        return [row for row in map(str.split, said.out.splitlines()[1:]) if len(row) > 2]

    def drain(self, node: str, reason: str) -> None:
        """Keep jobs off a node. A reason that somebody set before us stays. Raises NoAnswer."""
        now = self.node(node)
        if "DRAIN" not in now.states or (now.drained_by_us and now.reason != REASON + reason):
            self._ask("scontrol", "update", f"nodename={node}", "state=drain", f"reason={REASON}{reason}")

    def resume(self, node: str) -> None:
        """Let jobs onto a node again. Raises NoAnswer."""
        self._ask("scontrol", "update", f"nodename={node}", "state=resume")

    def comment(self, job: int) -> str:
        """The job's AdminComment, which survives a requeue and which users can't write. Raises NoAnswer."""
        return self._field(job, "admin_comment")

    def set_comment(self, job: int, text: str) -> None:
        """Replace the job's AdminComment. Raises NoAnswer."""
        self._ask("scontrol", "update", f"jobid={self._name(job)}", f"admincomment={text}")

    def notify(self, job: int, text: str) -> None:
        """Tell whoever waits at srun or salloc. Raises NoAnswer."""
        self._ask("scontrol", "notify", self._name(job), text)

    def hold(self, job: int) -> None:
        """End this run of the job and keep it from starting until a person releases it. Raises NoAnswer."""
        self._ask("scontrol", "requeuehold", self._name(job))

    def end_run(self, job: int, info: JobInfo) -> None:
        """Run the job again, or end it if it can't be. Raises NoAnswer."""
        if info.batch and info.requeue:
            self._ask("scontrol", "requeue", self._name(job))
        else:
            self._ask("scancel", self._name(job))

    def _field(self, job: int, field: str) -> str:
        """A field of a job, and of no other element of its array. Raises NoAnswer.

        Asked for by name: in what `scontrol show job` prints, a job's own name can forge lines.
        """
        form = f"JobID:0{SEPARATOR},{field}:0{SEPARATOR}"
        said = self._ask("squeue", "--noheader", "--states=all", f"--jobs={job}", f"--Format={form}")
        for line in said.splitlines():
            number, value, *_ = [*line.split(SEPARATOR), ""]
            if number.strip() == str(job):
                return value.strip().removeprefix(NOTHING)
        raise NoAnswer(f"squeue shows no job {job}")

    def _name(self, job: int) -> str:
        """What to call a job when something is done to it, and to no other element of its array. Raises NoAnswer."""
        name = self._field(job, "JobArrayID")
        return name if re.fullmatch(rf"{job}_[0-9]+", name) else str(job)

    def _ask(self, tool: str, *words: str) -> str:
        said = self._commands.run(f"/usr/bin/{tool}", *words)
        if said.code:
            raise NoAnswer(f"{tool} {' '.join(words[:2])}: {said.err or said.code}")
        return said.out


def parse_job(line: str) -> JobInfo:
    """A line of FIELDS, each followed by SEPARATOR."""
    state, batch, requeue, restarts, used, host, reason, nodes, partition, uid, _ = _words(line)
    return JobInfo(
        state=state,
        batch=batch == "1",
        requeue=requeue == "1",
        restarts=int(restarts or 0),
        age_s=seconds(used),
        batch_host="" if host in ("", "n/a", "N/A") else host,
        reason=reason,
        nodes=tuple(expand(nodes)) if nodes else (),
        partition=partition,
        uid=int(uid),
    )


def number_of(line: str) -> int:
    """The job that a line of FIELDS is about."""
    return int(_words(line)[-1])


def _words(line: str) -> list[str]:
    return [word.strip() for word in line.split(SEPARATOR)[: len(FIELDS)]]


def seconds(text: str) -> int:
    """A time as squeue prints it: [days-][[hours:]minutes:]seconds."""
    days, _, rest = text.rpartition("-")
    if not re.fullmatch(r"[0-9]+(:[0-9]+)*", rest):
        return 0
    total = 0
    for part in rest.split(":"):
        total = total * 60 + int(part)
    return total + int(days or 0) * 86400


def parse_node(text: str) -> NodeInfo:
    """What `scontrol show node` says of state and reason. Users write nothing of it."""
    state = re.search(r"\bState=(\S+)", text)
    reason = re.search(r"\bReason=(.*?)(?: \[[^ ]+@[^ ]+\]|$)", text, re.MULTILINE)
    cpus = re.search(r"\bCPUAlloc=([0-9]+)", text)
    words = re.split(r"[+*~#!%$@^-]+", state.group(1)) if state else []
    why, busy = reason.group(1).strip() if reason else "", bool(cpus and int(cpus.group(1)))
    return NodeInfo(frozenset(filter(None, words)), why, busy)
