# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""SONiC: counters of queues and priorities, and LLDP neighbours, as `show` prints them.

Drawbridge's maps give a priority, its traffic class and its queue one number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...model import SwitchProfile
from ..state import DROPPED, MARKED, PEAK, RX_PAUSE, STORMS, TX_PAUSE, Ports, StateRead, counted, joined, neighbour

UNICAST = re.compile(r"UC(\d)")
NOT_COUNTED = "N/A"
_RULE = re.compile(r"-+(  +-+)*")
_STORMS = re.compile(r" *(\S+):(\d) +\S+ +([\d,]+)/[\d,]+ ")
_MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", re.IGNORECASE)


def reads(profile: SwitchProfile) -> tuple[StateRead, ...]:
    """The commands; all ports in one answer each."""
    del profile
    return (
        StateRead("pause frames", "show pfc counters", _pauses),
        StateRead("ECN marks", "show queue wredcounters --json", lambda it: _queues(it, "ecnmarkedpacket", MARKED)),
        StateRead("drops", "show queue counters --json", lambda it: _queues(it, "droppacket", DROPPED)),
        StateRead("queue depths", "show queue watermark unicast --json", _peaks),
        StateRead("watchdog storms", "show pfcwd stats", _storms),
        StateRead("LLDP neighbours", "show lldp table", _neighbours),
    )


def _pauses(answer: str) -> Ports:
    """Two tables: received frames first."""
    return joined(
        counted(row[0], number, **{RX_PAUSE if title == "Port Rx" else TX_PAUSE: _number(value)})
        for title, rows in _tables(answer)
        for row in rows
        for number, value in enumerate(row[1:])
    )


def _queues(answer: str, field: str, counter: str) -> Ports:
    return joined(
        counted(port, match[1], **{counter: _number(fields[field])})
        for port, queues in _json(answer).items()
        for queue, fields in queues.items()
        if (match := UNICAST.fullmatch(queue)) and fields[field] != NOT_COUNTED
    )


def _peaks(answer: str) -> Ports:
    return joined(
        counted(port, match[1], **{PEAK: _number(value)})
        for port, queues in _json(answer).items()
        for queue, value in queues.items()
        if (match := UNICAST.fullmatch(queue)) and value != NOT_COUNTED
    )


def _storms(answer: str) -> Ports:
    found = [match for match in map(_STORMS.match, answer.splitlines()) if match]
    return joined(counted(match[1], match[2], **{STORMS: _number(match[3])}) for match in found)


def _neighbours(answer: str) -> Ports:
    """Hosts name their ports by a MAC address, and have the name of the interface as description."""
    return joined(
        neighbour(port, device, description if _MAC.fullmatch(there) and description else there)
        for _unused, rows in _tables(answer)
        for port, device, there, _unused, description in rows
    )


def _tables(answer: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Tables with their first title. The rule below the titles says where columns begin."""
    lines = answer.splitlines()
    for at, line in enumerate(lines):
        if "  " not in line.strip() or not _RULE.fullmatch(line.strip()):
            continue
        columns = [match.span() for match in re.finditer("-+", line)]
        ends = [*(span[0] for span in columns[1:]), None]
        rows = []
        for row in lines[at + 1 :]:
            if not row.strip() or _RULE.fullmatch(row.strip()):
                break
            rows.append([row[start:end].strip() for (start, _unused), end in zip(columns, ends)])
        yield re.split("  +", lines[at - 1].strip())[0], rows


def _json(answer: str) -> dict[str, dict[str, Any]]:
    """`show` may print text before the JSON."""
    found, _unused = json.JSONDecoder().raw_decode(answer[answer.index("{") :])
    return found


def _number(text: str) -> int:
    return int(text.replace(",", ""))
