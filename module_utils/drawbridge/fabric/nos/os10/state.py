# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Dell SmartFabric OS10: pause frames, drops, ECN marks and LLDP neighbours, as `show` prints them.

OS10 counts the marks of all queues of a port together. They are those of the lossless class, if no second class is
lossless. It has neither queue depths nor a watchdog here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from ...model import SwitchProfile
from ..state import DROPPED, MARKED, RX_PAUSE, TX_PAUSE, Ports, StateRead, columns, counted, joined, neighbour

QUEUES = "show queuing statistics interface "
_PORT = re.compile(r"ethernet[\d/:]+")
_PAUSED = re.compile(r" *(\d) +(\d+) +(\d+) *")
_QUEUE = re.compile(r"(\d) +\d+ +\d+ +(\d+) +\d+ *")
_MARKED = re.compile(r"^ECN marked count +(\d+)", re.MULTILINE)


def reads(profile: SwitchProfile, release: str = "") -> tuple[StateRead, ...]:
    """The commands. OS10 shows the queues of one port at a time."""
    del release
    [priority, *others] = profile.lossless
    marks = () if others else profile.ports
    return (
        StateRead("pause frames", "show interface priority-flow-control details", _pauses, (RX_PAUSE, TX_PAUSE)),
        *(
            StateRead(f"drops of {port}", f"{QUEUES}{port}", partial(_drops, port=port), (DROPPED,), (port,))
            for port in profile.ports
        ),
        *(
            StateRead(
                f"ECN marks of {port}",
                f"{QUEUES}{port} wred",
                partial(_marks, port=port, priority=priority),
                (MARKED,),
                (port,),
            )
            for port in marks
        ),
        StateRead("LLDP neighbours", "show lldp neighbors", _neighbours),
    )


def _pauses(answer: str) -> Ports:
    return joined(
        counted(port, row[1], **{RX_PAUSE: int(row[2]), TX_PAUSE: int(row[3])})
        for port, line in _below_ports(answer)
        if (row := _PAUSED.fullmatch(line))
    )


def _below_ports(answer: str) -> Iterator[tuple[str, str]]:
    port = ""
    for line in answer.splitlines():
        if _PORT.fullmatch(line.strip()):
            port = line.strip()
        elif port:
            yield port, line


def _drops(answer: str, port: str) -> Ports:
    found = [row for row in map(_QUEUE.fullmatch, answer.splitlines()) if row]
    return joined(counted(port, row[1], **{DROPPED: row[2]}) for row in found)


def _marks(answer: str, port: str, priority: int) -> Ports:
    match = _MARKED.search(answer)
    return counted(port, priority, **{MARKED: match[1]}) if match else {}


def _neighbours(answer: str) -> Ports:
    """The titles say where columns begin; a port at the other end may have a space in its name."""
    lines = answer.splitlines()
    at, (name, there, end) = columns(lines, "Loc PortID", ("Rem Host Name", "Rem Port Id", "Rem Chassis Id"))
    return joined(
        neighbour(line[:name].strip(), line[name:there].strip(), line[there:end].strip())
        for line in lines[at + 1 :]
        if _PORT.match(line)
    )
