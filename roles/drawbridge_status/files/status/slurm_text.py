# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of scontrol and squeue, as nodes and jobs. Pure."""

from __future__ import annotations

import re

from ..gate.hostlist import expand
from .model import Job, SlurmNode
from .scontrol import fields, state_flags

SEPARATOR = "\x1f"
COLUMNS = ("JobID", "UserName", "Partition", "State", "StartTime", "admin_comment", "NodeList")
FORMAT = ",".join(f"{column}:0{SEPARATOR}" for column in COLUMNS)
"""For squeue --Format. From squeue: in the output of scontrol a job's own name can forge lines."""
NOTHING = ("(null)", "N/A")
_LAST = "Extra|InstanceId|InstanceType|ReservationName|TLSCertTokenSet|TLSCertLastRenewal|Topology|Parameters"
COMMENT = re.compile(rf" Comment=(.*?)(?: (?:{_LAST})=|$)")
"""The site may write Key=value there."""
WHO = re.compile(r"(.*) \[([^ ]+)@([^ ]+)\]", re.DOTALL)


def nodes(text: str) -> dict[str, SlurmNode]:
    """Lines of `scontrol show node -o` by name."""
    found = (node(line) for line in text.splitlines() if line.startswith("NodeName="))
    return {one.name: one for one in found}


def node(line: str) -> SlurmNode:
    """One line."""
    shown = fields(line)
    state, flags = state_flags(shown)
    reason, by, since = shown.get("Reason", ""), "", ""
    if who := WHO.fullmatch(reason):
        reason, by, since = who.groups()
    partitions = tuple(filter(None, shown.get("Partitions", "").split(",")))
    comment = COMMENT.search(line.rstrip())
    return SlurmNode(shown["NodeName"], state, flags, reason, by, since, partitions, comment[1] if comment else "")


def units(text: str) -> dict[str, str]:
    """Hostlists of the switches that have nodes, as `scontrol show topology` prints them."""
    lines = (fields(line) for line in text.splitlines())
    return {line["SwitchName"]: line["Nodes"] for line in lines if line.get("Level") == "0" and "Nodes" in line}


def jobs(text: str) -> tuple[Job, ...]:
    """Lines of FORMAT. An incomplete line is skipped."""
    rows = ([word.strip() for word in line.split(SEPARATOR)] for line in text.splitlines())
    return tuple(job(row) for row in rows if len(row) > len(COLUMNS))


def job(row: list[str]) -> Job:
    """One line's words."""
    number, user, partition, state, since, comment, names = ("" if it in NOTHING else it for it in row[: len(COLUMNS)])
    return Job(number, user, partition, state, since, comment, tuple(expand(names)) if names else ())
