# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of scontrol, squeue and sdiag of Slurm 23.11 to 26.05, for metrics of 10,000 nodes and 20,000 jobs. Pure.

All times are seconds since the epoch, which ENVIRONMENT requests.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from ..nodes.scontrol import fields, state_flags

ENVIRONMENT = {"SLURM_TIME_FORMAT": "%s", "TZ": "UTC0"}
"""For all three tools. Without a TZ the C library looks at /etc/localtime for each of 100,000 times."""
SEPARATOR = "\x1f"
COLUMNS = (
    *("JobID", "UserName", "Account", "Partition", "State", "PriorityLong"),
    *("EligibleTime", "StartTime", "EndTime", "NodeList"),
)
NODES = ("scontrol", "show", "nodes", "--oneliner")
JOBS = (
    *("squeue", "--noheader", "--all", "--local", "--array", "--states=all"),
    f"--Format={','.join(f'{column}:0{SEPARATOR}' for column in COLUMNS)}",
)
"""All jobs that slurmctld has, also ended ones; each element of an array has a line."""
SDIAG = ("sdiag",)
BUSY = ("ALLOCATED", "MIXED")
_REASON = re.compile(r"Reason=(.*?) \[([^\s@\]]+)@([0-9]+)\]")
_NUMBER = re.compile(r"\s*(.+?): +([0-9]+)")


class Node(NamedTuple):
    """A node. One without a drain has no reason: Slurm keeps that of an earlier drain."""

    name: str
    state: str
    """The base state, such as idle; of a node with a drain drained, or draining while a job runs."""
    partitions: tuple[str, ...] = ()
    drained: bool = False
    """Whether it gets no new jobs, with a drain or because it is down."""
    reason: str = ""
    by: str = ""
    since: float | None = None


class Job(NamedTuple):
    """A job. A time that it does not have is None; the end of a job that runs is its time limit."""

    number: str
    user: str
    account: str
    partition: str
    """The first one, of a job that waits for several."""
    state: str
    held: bool
    eligible: float | None
    start: float | None
    end: float | None
    nodes: str
    """As a hostlist."""


class Scheduler(NamedTuple):
    """Numbers of sdiag; None for one that it does not print."""

    started: float | None
    backfilled: float | None
    backfill_cycle_s: float | None
    backfill_queue: float | None
    cycle_s: float | None


def nodes(text: str) -> list[Node]:
    """Lines of NODES. Raises ValueError if there is none."""
    found = [_node(line) for line in text.splitlines() if line.startswith("NodeName=")]
    if not found:
        raise ValueError(f"scontrol shows no node: {text[:200]!r}")
    return found


def _node(line: str) -> Node:
    """One line. It is long, and a site has many, so only four of its keys are read."""
    name = line[len("NodeName=") : line.index(" ")]
    state, drained = _state(_word(line, " State="))
    partitions = _partitions(_word(line, " Partitions="))
    if not drained:
        return Node(name, state, partitions)
    rest = line[line.find(" Reason=") + 1 :] if " Reason=" in line else ""
    if who := _REASON.match(rest):
        return Node(name, state, partitions, True, who[1], who[2], float(who[3]))
    return Node(name, state, partitions, True, fields(rest).get("Reason", ""))


def _word(line: str, key: str) -> str:
    """The value of a key up to the next blank; empty without the key."""
    start = line.find(key)
    return line[start + len(key) : (line + " ").index(" ", start + len(key))] if start >= 0 else ""


@functools.lru_cache(maxsize=1024)
def _state(shown: str) -> tuple[str, bool]:
    """The word of a state such as IDLE+DRAIN, and whether the node gets no new jobs."""
    base, flags = state_flags({"State": shown} if shown else {})
    if base == "DOWN" or not flags & {"DRAIN", "FAIL"}:
        return base.lower(), base == "DOWN"
    return "draining" if base in BUSY or "COMPLETING" in flags else "drained", True


@functools.lru_cache(maxsize=1024)
def _partitions(names: str) -> tuple[str, ...]:
    return tuple(filter(None, names.split(",")))


def jobs(text: str) -> list[Job]:
    """Lines of JOBS. An incomplete line is left out."""
    rows = (line.split(SEPARATOR) for line in text.splitlines())
    return [_job(row) for row in rows if len(row) > len(COLUMNS)]


def _job(row: list[str]) -> Job:
    number, user, account, partition, state, priority, eligible, start, end, names, *_rest = row
    first, held = partition.partition(",")[0], priority == "0"
    times = _time(eligible), _time(start), _time(end)
    return Job(number, user, _text(account), first, state, held, *times, _text(names))


def _time(word: str) -> float | None:
    return float(word) if word.isdecimal() else None


def _text(word: str) -> str:
    return "" if word in ("(null)", "N/A") else word


def scheduler(text: str) -> Scheduler:
    """The text of SDIAG. Its parts have lines of the same words."""
    top, _main, rest = text.partition("Main schedule statistics")
    main, _back, rest = rest.partition("Backfilling stats")
    backfill = _numbers(rest.partition("Backfill exit")[0])
    cycle, last = _numbers(main).get("Last cycle"), backfill.get("Last cycle")
    return Scheduler(
        started=_numbers(top).get("Jobs started"),
        backfilled=backfill.get("Total backfilled jobs (since last slurm start)"),
        backfill_cycle_s=None if last is None else last / 1e6,
        backfill_queue=backfill.get("Last queue length"),
        cycle_s=None if cycle is None else cycle / 1e6,
    )


def _numbers(part: str) -> dict[str, float]:
    """The lines with a name and a number."""
    found = (_NUMBER.fullmatch(line) for line in part.splitlines())
    return {match[1]: float(match[2]) for match in found if match}
