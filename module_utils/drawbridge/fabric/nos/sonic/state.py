# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""SONiC: counters of queues and priorities, and LLDP neighbours, as `show` prints them.

Drawbridge's maps give a priority, its traffic class and its queue one number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from ...model import SwitchProfile
from ..state import DROPPED, MARKED, PEAK, RX_PAUSE, STORMS, TX_PAUSE, Ports, StateRead, counted, joined, neighbour
from .capabilities import CAPABILITIES, MARKS, PEAKS_AS_JSON

UNICAST = re.compile(r"UC(\d)")
_RULE = re.compile(r"-+(  +-+)*")
_STORMS = re.compile(r" *(\S+):(\d) +\S+ +([\d,]+)/[\d,]+ ")
_MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", re.IGNORECASE)


def reads(profile: SwitchProfile, release: str = "") -> tuple[StateRead, ...]:
    """The commands; all ports in one answer each."""
    has = CAPABILITIES.releases.has
    marks = "" if has(MARKS, release) else f"SONiC {release or CAPABILITIES.releases.oldest} has no {MARKS!r}"
    peaks = PEAKS_AS_JSON if has(PEAKS_AS_JSON, release) else PEAKS_AS_JSON.removesuffix(" --json")
    return (
        StateRead("pause frames", "show pfc counters", _pauses, (RX_PAUSE, TX_PAUSE)),
        StateRead(
            "ECN marks", f"{MARKS} --json", partial(_queues, "ecnmarkedpacket", MARKED), (MARKED,), lacking=marks
        ),
        StateRead("drops", "show queue counters --json", partial(_queues, "droppacket", DROPPED), (DROPPED,)),
        StateRead("queue depths", peaks, _peaks, (PEAK,)),
        StateRead("watchdog storms", "show pfcwd stats", partial(_storms, profile), (STORMS,)),
        StateRead("LLDP neighbours", "show lldp table", _neighbours),
    )


def _pauses(answer: str) -> Ports:
    """Two tables: received frames first."""
    return joined(
        counted(row[0], number, **{RX_PAUSE if title == "Port Rx" else TX_PAUSE: value})
        for title, rows in _tables(answer)
        for row in rows
        for number, value in enumerate(row[1:])
    )


def _queues(field: str, counter: str, answer: str) -> Ports:
    return joined(
        counted(port, match[1], **{counter: fields.get(field)})
        for port, queues in _json(answer, "{").items()
        for queue, fields in queues.items()
        if (match := UNICAST.fullmatch(queue))
    )


def _peaks(answer: str) -> Ports:
    """One object for each port in a list, or a table, which releases without --json print."""
    if any(line.startswith("[") for line in answer.splitlines()):
        rows = _json(answer, "[")
    else:
        rows = [dict(zip(titles, row)) for titles, table in _titled(answer) for row in table]
    return joined(
        counted(row["Port"], match[1], **{PEAK: value})
        for row in rows
        for queue, value in row.items()
        if (match := UNICAST.fullmatch(queue))
    )


def _storms(profile: SwitchProfile, answer: str) -> Ports:
    """SONiC leaves out queues without a storm: theirs are 0, once the answer has its titles."""
    if "STORM DETECTED" not in answer:
        raise ValueError(answer)
    found = [match for match in map(_STORMS.match, answer.splitlines()) if match]
    silent = [counted(port, number, **{STORMS: 0}) for port in profile.ports for number in profile.lossless]
    return joined([*silent, *(counted(match[1], match[2], **{STORMS: match[3]}) for match in found)])


def _neighbours(answer: str) -> Ports:
    """Hosts name their ports by a MAC address, and have the name of the interface as description."""
    return joined(
        neighbour(port, device, description if _MAC.fullmatch(there) and description else there)
        for _unused, rows in _tables(answer)
        for port, device, there, _unused, description in rows
    )


def _tables(answer: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Tables with their first title."""
    yield from ((titles[0], rows) for titles, rows in _titled(answer))


def _titled(answer: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Tables with their titles. The rule below these says where columns begin. Raises ValueError if there is none."""
    lines, found = answer.splitlines(), False
    for at, line in enumerate(lines):
        if "  " not in line.strip() or not _RULE.fullmatch(line.strip()):
            continue
        found, columns = True, [match.span() for match in re.finditer("-+", line)]
        ends = [*(span[0] for span in columns[1:]), None]
        rows = []
        for row in lines[at + 1 :]:
            if not row.strip() or _RULE.fullmatch(row.strip()):
                break
            rows.append([row[start:end].strip() for (start, _unused), end in zip(columns, ends)])
        yield re.split("  +", lines[at - 1].strip()), rows
    if not found:
        raise ValueError(answer)


def _json(answer: str, mark: str) -> Any:
    """`show` may print text before the JSON, which begins with a mark."""
    found, _unused = json.JSONDecoder().raw_decode(answer[answer.index(mark) :])
    return found
