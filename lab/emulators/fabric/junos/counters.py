# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a QFX switch counts. Layouts: a public capture of `show interfaces extensive` (Junos 22.4), collectors that read
`show interfaces queue` of AI fabrics, a capture of LLDP neighbours on a QFX5240.

A queue whose class has a PFC priority has that number in `counters`; any other queue has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.counted import PRIORITIES, count
from lab.emulators.fabric.junos import checks, statements

if TYPE_CHECKING:
    import re

State = dict[str, Any]


def pauses(state: State, name: str) -> list[str]:
    """Return the part of `show interfaces extensive` on PFC."""
    rows = [(n, count(state, name, n, "rx_pause"), count(state, name, n, "tx_pause")) for n in PRIORITIES]
    return [
        "  MAC statistics:                      Receive         Transmit",
        "    MAC pause frames                         0                0",
        "  MAC Priority Flow Control Statistics:",
        *(f"    Priority :  {n} {received:>29} {sent:>16}" for n, received, sent in rows),
    ]


def queues(state: State, _match: re.Match[str], _pipes: list[str], _now: float) -> list[str]:
    """Return `show interfaces queue`: all ports."""
    classes = checks.classes(statements.in_force(state["active"]))
    lines: list[str] = []
    for name in state["ports"]:
        lines += [f"Physical interface: {name}, up, Physical link is Up", "Forwarding classes: 12 supported, 5 in use"]
        for title, it in classes.items():
            if "queue-num" in it:
                number = int(it.get("pfc-priority", it["queue-num"]))
                counts = [count(state, name, number, what) for what in ("dropped", "marked")]
                lines += _queue(it["queue-num"], title, *counts)
        lines.append("")
    return lines


def _queue(number: str, title: str, dropped: int, marked: int) -> list[str]:
    return [
        f"Queue: {number}, Forwarding classes: {title}",
        "  Queued:",
        f"    Packets              : {0:>21} {0:>21} pps",
        "  Transmitted:",
        f"    Packets              : {0:>21} {0:>21} pps",
        f"    Tail-dropped packets : {dropped:>21} {0:>21} pps",
        f"    RED-dropped packets  : {0:>21} {0:>21} pps",
        f"    ECN-CE packets       : {marked:>21} {0:>21} pps",
    ]


def neighbours(state: State, _match: re.Match[str], _pipes: list[str], _now: float) -> list[str]:
    """Return `show lldp neighbors`."""
    title = f"{'Local Interface':<19}{'Parent Interface':<20}{'Chassis Id':<41}{'Port info':<19}System Name"
    active = statements.in_force(state["active"])
    rows = [title]
    for port, (device, there) in state["neighbors"].items():
        bundle = statements.value(active, f"interfaces {port} ether-options 802.3ad") or "-"
        rows.append(f"{port:<19}{bundle:<20}{'00:00:5e:00:53:01':<41}{there:<19}{device}")
    return rows
