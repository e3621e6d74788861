# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`scontrol show nodes --oneliner` of Slurm 23.11 to 26.05, as the controller's decisions need it. Pure.

All times are seconds since the epoch, which telemetry's slurm_text.ENVIRONMENT requests. A site's own Comment= may hold
text like one of Slurm's keys, such as RMA=4711, and keeps it when a report is written after it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from ...nodes.scontrol import state_flags
from ..decide import Seen
from ..finding import REASON

NODES = ("scontrol", "show", "nodes", "--oneliner")
COMPLETE = "reboot complete"
REBOOTED = frozenset({"reboot issued", COMPLETE, "reboot timed out"})
SILENT = "Not responding"
ADDED = (*REBOOTED, SILENT, "ResumeTimeout reached")
"""Texts that slurmctld appends to a reason, each after a colon between blanks."""
JITTER_S = 3.0
"""slurmctld derives the time of a boot from the uptime in each registration, so it varies."""
_LAST = r" (?:Extra|InstanceId|InstanceType|ReservationName|TLSCertTokenSet|TLSCertLastRenewal|Topology|Parameters)="
_WRITER = re.compile(rf" Reason=(.*?) \[[^\s@\]]+@([0-9]+)\](?= Comment=|{_LAST}| {{7}}|$)", re.DOTALL)
_REASON = re.compile(rf" Reason=(.*?)()(?= Comment=|{_LAST}|$)", re.DOTALL)
_COMMENT = re.compile(rf" Comment=(.*?)(?={_LAST}|$)", re.DOTALL)
_RECORD = re.compile(r"\n(?=NodeName=)")


def nodes(text: str, rebooted: Mapping[str, float]) -> list[Seen]:
    """Records of NODES. `rebooted` says when findings had a node rebooted lately.

    Raises ValueError without a record.
    """
    records = (record.rstrip() for record in _RECORD.split(text))
    found = [_node(record, rebooted) for record in records if record.startswith("NodeName=")]
    if not found:
        raise ValueError(f"scontrol shows no node: {text[:200]!r}")
    return found


def reserved(text: str, reservation: str) -> frozenset[str]:
    """Nodes that a reservation holds now."""
    word = f" ReservationName={reservation} "
    records = _RECORD.split(text) if word.rstrip() in text else ()
    return frozenset(_word(f" {record}", " NodeName=") for record in records if word in f"{record.rstrip()} ")


def _node(line: str, rebooted: Mapping[str, float]) -> Seen:
    """One record. It is long, and a site has many, so only the keys that count are read."""
    name = line[len("NodeName=") : (line + " ").index(" ")]
    state, flags = _state(_word(line, " State="))
    starts = [at for key in (" Reason=", " Comment=") if (at := line.find(key)) >= 0]
    if not starts:
        return Seen(name, state, flags)
    rest, reason, since = line[min(starts) :], "", None
    if matched := _WRITER.match(rest) or _REASON.match(rest):
        reason, since, rest = matched[1], _time(matched[2]), rest[matched.end() :]
    comment = matched[1].strip() if (matched := _COMMENT.search(rest)) else ""
    given, added = as_given(reason)
    booted = COMPLETE in added or _booted(_time(_word(line, " BootTime=")), since, rebooted.get(name))
    lost = state == "DOWN" and SILENT in added and not added & REBOOTED
    return Seen(name, state, flags, "" if _is_old(given, state, flags, added) else given, comment, booted, lost)


def _is_old(reason: str, state: str, flags: frozenset[str], added: frozenset[str]) -> bool:
    """Whether a reason of findings is that of an earlier drain.

    Without accounting Slurm keeps the reason after the drain, also when it sets the node down by itself. A reboot that
    findings ordered ends with a node that is down without a drain.
    """
    is_drained = flags & {"DRAIN", "FAIL"} or (state == "DOWN" and added & REBOOTED)
    return reason.startswith(REASON) and not is_drained


def as_given(reason: str) -> tuple[str, frozenset[str]]:
    """The reason as a person or a program gave it, and the texts that slurmctld appended."""
    parts = reason.split(" : ")
    kept = len(parts)
    while kept > 1 and parts[kept - 1] in ADDED:
        kept -= 1
    return " : ".join(parts[:kept]), frozenset(parts[kept:])


def _booted(boot: float | None, since: float | None, rebooted: float | None) -> bool:
    """Whether the node has booted since its drain, or since findings had it rebooted.

    The reason's time alone is no measure: slurmctld and each new reason move it, also past the boot.
    """
    if boot is None:
        return False
    return (rebooted is not None and boot > rebooted) or (since is not None and boot > since + JITTER_S)


def _word(line: str, key: str) -> str:
    """The value of a key up to the next blank; empty without the key."""
    start = line.find(key)
    return line[start + len(key) : (line + " ").index(" ", start + len(key))] if start >= 0 else ""


@functools.lru_cache(maxsize=1024)
def _state(shown: str) -> tuple[str, frozenset[str]]:
    return state_flags({"State": shown} if shown else {})


def _time(word: str) -> float | None:
    return float(word) if word.isdecimal() else None
