# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Juniper Junos: pause frames, ECN marks, drops and LLDP neighbours, as `show` prints them.

Junos counts marks and drops by queue; the classes of the profile say which priority that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model import SwitchProfile
from ..state import DROPPED, MARKED, RX_PAUSE, TX_PAUSE, Ports, StateRead, columns, counted, joined, neighbour
from .lines import classes, queue

_PORT = re.compile(r"Physical interface: ([^,\s]+)")
_QUEUE = re.compile(r"Queue: (\d+),")
_PAUSED = re.compile(r" +Priority : +(\d) +(\d+) +(\d+) *")
_COUNTED = {"Tail-dropped packets": DROPPED, "RED-dropped packets": DROPPED, "ECN-CE packets": MARKED}
_COUNT = re.compile(rf" +({'|'.join(_COUNTED)}) *: +(\d+)")


def reads(profile: SwitchProfile, release: str = "") -> tuple[StateRead, ...]:
    """The commands; all ports in one answer each."""
    del release
    priorities = {str(queue(name, profile)): part.priority for name, part in classes(profile).items()}
    return (
        StateRead("pause frames", "show interfaces extensive", _pauses, (RX_PAUSE, TX_PAUSE)),
        StateRead(
            "ECN marks and drops",
            "show interfaces queue",
            lambda answer: _queues(answer, priorities),
            (MARKED, DROPPED),
        ),
        StateRead("LLDP neighbours", "show lldp neighbors", _neighbours),
    )


def _below_ports(answer: str) -> Iterator[tuple[str, str]]:
    port = ""
    for line in answer.splitlines():
        if match := _PORT.match(line.strip()):
            port = match[1]
        elif port:
            yield port, line.rstrip()
    if not port:
        raise ValueError(answer)


def _pauses(answer: str) -> Ports:
    return joined(
        counted(port, row[1], **{RX_PAUSE: int(row[2]), TX_PAUSE: int(row[3])})
        for port, line in _below_ports(answer)
        if (row := _PAUSED.fullmatch(line))
    )


def _queues(answer: str, priorities: dict[str, int]) -> Ports:
    parts: list[Ports] = []
    priority: int | None = None
    for port, line in _below_ports(answer):
        if match := _QUEUE.match(line):
            priority = priorities.get(match[1])
        elif (match := _COUNT.match(line)) and priority is not None:
            parts.append(counted(port, priority, **{_COUNTED[match[1]]: int(match[2])}))
    return joined(parts)


def _neighbours(answer: str) -> Ports:
    """The titles say where columns begin. A member of a bundle and the bundle itself have the same neighbour."""
    lines = answer.splitlines()
    at, (there, device) = columns(lines, "Local Interface", ("Port info", "System Name"))
    found = [line for line in lines[at + 1 :] if line[device:].strip()]
    return joined(
        neighbour(_port(name), line[device:].strip(), line[there:device].strip())
        for line in found
        for name in line.split()[:2]
        if name != "-"
    )


def _port(name: str) -> str:
    """The port of a logical interface such as ge-0/0/1.0."""
    return re.sub(r"\.\d+$", "", name)
