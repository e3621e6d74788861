# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Queries and commands to Slurm. No answer never counts as "no such job"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .command import NO_ANSWER, Commands
from .hostlist import expand

REASON = "drawbridge gate: "
# the dispatcher's drain reason after the gate's part of a node's script failed
KILLED = ("drawbridge: prolog part 50-gate ", "drawbridge: epilog part 50-gate ")
# Slurm's own drain reasons, if neither gate nor dispatcher set one
UNEXPLAINED = "Prolog error"
FAILED = (UNEXPLAINED, "Epilog error")
# SIGNALING hides RUNNING while Slurm delivers a signal
RUNNING = ("RUNNING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING")
GONE = "GONE"
FIELDS = (
    *("State", "BatchFlag", "Requeue", "RestartCnt", "TimeUsed", "BatchHost", "Reason", "NodeList"),
    *("Partition", "UserID", "JobID"),
)
SEPARATOR = "\x1f"
NOTHING = "(null)"  # squeue prints this for an empty text
# Slurm's own reasons for a node that it lost; such a node returns only after proof
LOST = ("Not responding", "Node unexpectedly rebooted", "Node Not Responding")
# ... which it appends to an existing reason, also an old one, after this separator
APPENDED = " : "
# ... after it started a job again that slurmd still has; Slurm ends both
DUPLICATE = "Duplicate jobid"


class NoAnswer(Exception):
    """Slurm did not answer."""


class JobInfo(NamedTuple):
    """A job's record in Slurm. State GONE: Slurm has no such job."""

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
        """Whether the job is not over, and may use Kubernetes."""
        return self.state in RUNNING

    def has(self, node: str) -> bool:
        """Whether the job has the node, from before its prolog to after its epilog."""
        return (self.running or self.state == "COMPLETING") and node in self.nodes


class Running(NamedTuple):
    """User and nodes of a job that is not over."""

    uid: int
    nodes: tuple[str, ...]


class NodeInfo(NamedTuple):
    """A node's record in Slurm."""

    states: frozenset[str]
    reason: str
    busy: bool = False
    """A job has CPUs of the node. After a kill of slurmctld the states may not show that."""

    @property
    def drained_by_us(self) -> bool:
        """A drain of the gate, which it may lift."""
        return "DRAIN" in self.states and self.reason.startswith((REASON, *KILLED))

    @property
    def kept_out(self) -> bool:
        """Whether the node accepts no jobs, for any reason."""
        return bool(self.states & {"DRAIN", "DOWN"})

    @property
    def drained_by_slurm(self) -> bool:
        """A script of the node failed, and Slurm set its own reason."""
        return "DRAIN" in self.states and self._first in FAILED

    @property
    def drained_unexplained(self) -> bool:
        """A prolog never ran or failed without a cause: a killed slurmctld loses the order to run it."""
        return "DRAIN" in self.states and self._first == UNEXPLAINED

    @property
    def drained_for_duplicate(self) -> bool:
        """Slurm started a job that the node already had, as after a kill of slurmctld."""
        return "DRAIN" in self.states and self._first == DUPLICATE

    @property
    def lost(self) -> bool:
        """Slurm lost the node and keeps it down until it is resumed."""
        return "DOWN" in self.states and "DRAIN" not in self.states and self.reason.rpartition(APPENDED)[2] in LOST

    @property
    def _first(self) -> str:
        """The reason without Slurm's later appendix for a lost node."""
        first, appended, last = self.reason.rpartition(APPENDED)
        return first if appended and last in LOST else self.reason


class Slurm:
    """Slurm's commands."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def job(self, number: int) -> JobInfo:
        """One job, at a cost that does not grow with the cluster. Raises NoAnswer.

        An array's number is also one element's number, but Slurm lists all elements for it.
        """
        form = ",".join(f"{field}:0{SEPARATOR}" for field in FIELDS)
        result = self._commands.run(
            "/usr/bin/squeue", "--noheader", "--states=all", f"--jobs={number}", f"--Format={form}"
        )
        if result.code and "Invalid job id" in result.err:
            return JobInfo()
        if result.code:
            raise NoAnswer(result.err or "squeue failed")
        lines = result.out.splitlines()
        return next((parse_job(line) for line in lines if number_of(line) == number), JobInfo())

    def running(self, partitions: Sequence[str]) -> dict[int, Running]:
        """Jobs of these partitions that are not over. Raises NoAnswer."""
        words = ("--states=R,CF,S,ST,SI", f"--partition={','.join(partitions)}", "--format=%A %U %N")
        found = (line.split() for line in self._run("squeue", "--noheader", *words).splitlines())
        return {int(row[0]): Running(int(row[1]), tuple(expand(row[2])) if len(row) > 2 else ()) for row in found}

    def running_on(self, node: str, partitions: Sequence[str]) -> list[int]:
        """Jobs of these partitions that run on a node. Raises NoAnswer."""
        words = ("--states=R,SI", f"--nodelist={node}", f"--partition={','.join(partitions)}", "--format=%A %N")
        return [int(line.split()[0]) for line in self._run("squeue", "--noheader", *words).splitlines()]

    def node(self, name: str) -> NodeInfo:
        """One node. Raises NoAnswer."""
        return parse_node(self._run("scontrol", "--oneliner", "show", "node", name))

    def pids(self) -> dict[int, int]:
        """Jobs by the PID of each of their processes on this host. Raises NoAnswer."""
        return {int(row[0]): int(row[1]) for row in self._steps() if row[0].isdigit() and row[1].isdigit()}

    def has_batch_step(self, job: int) -> bool:
        """Whether the job's batch script runs on this host. Raises NoAnswer."""
        return any(row[2] == "batch" for row in self._steps(str(job)))

    def _steps(self, *job: str) -> list[list[str]]:
        """Rows of PID, job, step. The steps' daemons answer, not slurmctld; without any step the code is 1."""
        result = self._commands.run("/usr/bin/scontrol", "listpids", *job)
        if result.code == NO_ANSWER:
            raise NoAnswer(f"scontrol listpids: {result.err}")
        return [row for row in map(str.split, result.out.splitlines()[1:]) if len(row) > 2]

    def drain(self, node: str, reason: str) -> None:
        """Drain a node. A reason that is not the gate's stays. Raises NoAnswer."""
        now = self.node(node)
        if "DRAIN" not in now.states or (now.drained_by_us and now.reason != REASON + reason):
            self._run("scontrol", "update", f"nodename={node}", "state=drain", f"reason={REASON}{reason}")

    def resume(self, node: str) -> None:
        """Resume a node. Raises NoAnswer."""
        self._run("scontrol", "update", f"nodename={node}", "state=resume")

    def comment(self, job: int) -> str:
        """The job's AdminComment, which survives a requeue and which users can't write. Raises NoAnswer."""
        return self._field(job, "admin_comment")

    def set_comment(self, job: int, text: str) -> None:
        """Replace the job's AdminComment. Raises NoAnswer."""
        self._run("scontrol", "update", f"jobid={self._name(job)}", f"admincomment={text}")

    def notify(self, job: int, text: str) -> None:
        """Print a text on the terminal of srun or salloc. Raises NoAnswer."""
        self._run("scontrol", "notify", self._name(job), text)

    def hold(self, job: int) -> None:
        """End this run of the job and keep it from starting until a person releases it. Raises NoAnswer."""
        self._run("scontrol", "requeuehold", self._name(job))

    def end_run(self, job: int, info: JobInfo) -> None:
        """Requeue the job, or cancel it if it can't be requeued. Raises NoAnswer."""
        if info.batch and info.requeue:
            self._run("scontrol", "requeue", self._name(job))
        else:
            self._run("scancel", self._name(job))

    def _field(self, job: int, field: str) -> str:
        """A field of a job, not of another element of its array. Raises NoAnswer.

        From squeue: in the output of `scontrol show job` a job's own name can forge lines.
        """
        form = f"JobID:0{SEPARATOR},{field}:0{SEPARATOR}"
        said = self._run("squeue", "--noheader", "--states=all", f"--jobs={job}", f"--Format={form}")
        for line in said.splitlines():
            number, value, *_unused = [*line.split(SEPARATOR), ""]
            if number.strip() == str(job):
                return value.strip().removeprefix(NOTHING)
        raise NoAnswer(f"squeue shows no job {job}")

    def _name(self, job: int) -> str:
        """The job's name in commands, which other elements of its array don't share. Raises NoAnswer."""
        name = self._field(job, "JobArrayID")
        return name if re.fullmatch(rf"{job}_[0-9]+", name) else str(job)

    def _run(self, tool: str, *words: str) -> str:
        result = self._commands.run(f"/usr/bin/{tool}", *words)
        if result.code:
            raise NoAnswer(f"{tool} {' '.join(words[:2])}: {result.err or result.code}")
        return result.out


def parse_job(line: str) -> JobInfo:
    """A line of FIELDS, each followed by SEPARATOR."""
    state, batch, requeue, restarts, used, host, reason, nodes, partition, uid, _unused = _words(line)
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
    """The job number in a line of FIELDS."""
    return int(_words(line)[-1])


def _words(line: str) -> list[str]:
    return [word.strip() for word in line.split(SEPARATOR)[: len(FIELDS)]]


def seconds(text: str) -> int:
    """A time as squeue prints it: [days-][[hours:]minutes:]seconds."""
    days, _sep, rest = text.rpartition("-")
    if not re.fullmatch(r"[0-9]+(:[0-9]+)*", rest):
        return 0
    total = 0
    for part in rest.split(":"):
        total = total * 60 + int(part)
    return total + int(days or 0) * 86400


def parse_node(text: str) -> NodeInfo:
    """State and reason from `scontrol show node`; users can't write any of its fields."""
    state = re.search(r"\bState=(\S+)", text)
    reason = re.search(r"\bReason=(.*?)(?: \[[^ ]+@[^ ]+\]|$)", text, re.MULTILINE)
    cpus = re.search(r"\bCPUAlloc=([0-9]+)", text)
    words = re.split(r"[+*~#!%$@^-]+", state.group(1)) if state else []
    why, busy = reason.group(1).strip() if reason else "", bool(cpus and int(cpus.group(1)))
    return NodeInfo(frozenset(filter(None, words)), why, busy)
