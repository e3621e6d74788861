# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A job of Slurm: commands that show it, their output as jobs, and the command that writes its report. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

SEPARATOR = "\x1f"
TIMES = {"SLURM_TIME_FORMAT": "%s"}
"""The environment in which Slurm's commands print seconds since the epoch."""
ENDED = (
    *("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("DEADLINE", "PREEMPTED", "BOOT_FAIL"),
)
"""States of a job that is over."""
COLUMNS = (
    *("name", "number", "user", "account", "partition", "state", "exit_code", "submitted", "eligible", "started"),
    *("ended", "limit", "nodes", "tres", "reason", "comment"),
)
SACCT = (
    *("JobID", "JobIDRaw", "User", "Account", "Partition", "State", "ExitCode", "Submit", "Eligible", "Start"),
    *("End", "TimelimitRaw", "NodeList", "AllocTRES", "Reason", "AdminComment"),
)
SQUEUE = (
    *("JobArrayID", "JobID", "UserName", "Account", "Partition", "State", "exit_code", "SubmitTime", "EligibleTime"),
    *("StartTime", "EndTime", "TimeLimit", "NodeList", "tres-alloc", "Reason", "admin_comment"),
)
"""The same columns. No column has a text that the job's user chose: it could contain the separator."""
NOTHING = ("(null)", "N/A", "None", "Unknown", "None assigned", "No reason")
NAME = re.compile(r"[0-9]{1,10}(_[0-9]{1,10})?(\+[0-9]{1,5})?")
"""A job, an element of an array, or a part of a heterogeneous job."""
OWN = "drawbridge job: "
"""The report in AdminComment begins with it."""


@dataclass(frozen=True)
class Job:
    """One job. Times are seconds since the epoch; 0 if there is none yet."""

    name: str
    """As Slurm's commands name it: 4711, or 4711_3 in an array."""
    number: str
    user: str = ""
    account: str = ""
    partition: str = ""
    state: str = "UNKNOWN"
    exit_code: str = ""
    submitted: float = 0
    eligible: float = 0
    started: float = 0
    ended: float = 0
    limit_s: float = 0
    """0: not known, or none."""
    hostlist: str = ""
    nodes: tuple[str, ...] = ()
    """The names of the hostlist."""
    gpus: int = 0
    reason: str = ""
    """Why it waits."""
    comment: str = ""
    """AdminComment."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in ENDED

    def wait_s(self, now: float) -> float:
        """Time from when it could start to its start, or to now, or to its end if it never started."""
        since = max(self.submitted, self.eligible)
        return max(0.0, (self.started or self.ended or now) - since) if since else 0.0

    def run_s(self, now: float) -> float:
        """Its run time up to now."""
        return max(0.0, (self.ended or now) - self.started) if self.started else 0.0


def accounting(name: str) -> tuple[str, ...]:
    """The command that shows one job, or all elements of an array, from accounting."""
    return ("sacct", f"--jobs={name}", *_SACCT)


def ended_since(seconds: int) -> tuple[str, ...]:
    """The command that shows all jobs that ended in the last seconds."""
    window = (f"--starttime=now-{seconds}seconds", "--endtime=now", f"--state={','.join(ENDED)}")
    return ("sacct", "--allusers", *window, *_SACCT)


_SACCT = (
    *("--allocations", "--noheader", "--parsable2", f"--delimiter={SEPARATOR}"),
    f"--format={','.join(SACCT)}",
)


def queue(name: str) -> tuple[str, ...]:
    """The command that shows a job that slurmctld still has, for sites without accounting."""
    form = ",".join(f"{column}:0{SEPARATOR}" for column in SQUEUE)
    return ("squeue", "--all", "--noheader", "--states=all", f"--jobs={name}", f"--Format={form}")


def written(job: Job, text: str) -> tuple[str, ...]:
    """The command that writes a report into accounting. slurmctld refuses changes of a job that is over.

    The name of an array's element is its own; its number may be the whole array's.
    """
    return ("sacctmgr", "--immediate", "modify", "job", "where", f"jobid={job.name}", "set", f"AdminComment={text}")


def jobs(text: str, expand: Callable[[str], Iterable[str]]) -> list[Job]:
    """Lines of SACCT or SQUEUE. `expand` gives the names of a hostlist. An incomplete line is skipped."""
    rows = ([word.strip() for word in line.split(SEPARATOR)] for line in text.splitlines())
    return [_job(row, expand) for row in rows if len(row) >= len(COLUMNS)]


def _job(row: Sequence[str], expand: Callable[[str], Iterable[str]]) -> Job:
    shown = {name: "" if word in NOTHING else word for name, word in zip(COLUMNS, row)}
    state = shown["state"].split(" ")[0] or "UNKNOWN"
    over, started = state in ENDED, _seconds(shown["started"])
    # slurmctld shows when it plans to start a job that waits, and when the limit of a job that runs will end it
    planned = state in ("PENDING", "CONFIGURING") or (over and not shown["nodes"])
    return Job(
        **{name: shown[name] for name in ("name", "number", "user", "account", "partition", "exit_code")},
        state=state,
        submitted=_seconds(shown["submitted"]),
        eligible=_seconds(shown["eligible"]),
        started=0 if planned else started,
        ended=_seconds(shown["ended"]) if over else 0,
        limit_s=_limit(shown["limit"]),
        hostlist=shown["nodes"],
        nodes=tuple(expand(shown["nodes"])) if shown["nodes"] else (),
        gpus=_gpus(shown["tres"]),
        reason="" if over else shown["reason"],
        comment=shown["comment"],
    )


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() else 0


def _limit(text: str) -> float:
    """Minutes of sacct, or days-hours:minutes:seconds of squeue; 0 for a word such as UNLIMITED."""
    if text.isdigit():
        return float(text) * 60
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text)
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0, 0)
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _gpus(tres: str) -> int:
    """GPUs of all nodes together, in `cpu=16,gres/gpu:h100=16,gres/gpu=16,node=2`."""
    found = re.search(r"(?:^|,)gres/gpu=([0-9]+)", tres)
    return int(found.group(1)) if found else 0


def whole_nodes(shown: Mapping[str, str]) -> bool:
    """Whether each job of a partition has its nodes alone. `shown` is a line of `scontrol show partition -o`."""
    return shown.get("OverSubscribe") == "EXCLUSIVE" or shown.get("Exclusive") in ("NODE", "TOPO")
