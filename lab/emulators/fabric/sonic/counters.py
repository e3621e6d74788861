# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What `show` counts, and whom LLDP sees: layouts and JSON keys of sonic-utilities' own tests and command reference.

Numbers have commas for thousands. A queue that nothing counts shows N/A.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.counted import PRIORITIES, count
from lab.emulators.fabric.sonic.tables import grid

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.emulators.fabric.switch import State

CAST = range(20)
"""Queues of a port; those above 7 are for multicast."""
NOTHING = "N/A"


def pfc(state: State) -> str:
    """`show pfc counters`: received and sent frames, one table each."""
    parts = []
    for title, name in (("Port Rx", "rx_pause"), ("Port Tx", "tx_pause")):
        head = (title, *(f"PFC{n}" for n in PRIORITIES))
        rows = [(port, *(_number(count(state, port, n, name)) for n in PRIORITIES)) for port in state["ports"]]
        parts.append(grid(head, rows, ">"))
    return "\n\n".join(parts)


def watchdog(state: State) -> str:
    """`show pfcwd stats`: queues that a watchdog checks."""
    head = ("QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP")
    rows = []
    for port, fields in state["running"].get("PORT_QOS_MAP", {}).items():
        watched = port in state["running"].get("PFC_WD", {})
        for n in filter(None, fields.get("pfcwd_sw_enable", "").split(",") if watched else []):
            storms, restored = (count(state, port, n, name) for name in ("storms", "restored"))
            status = "stormed" if storms > restored else "operational"
            rows.append((f"{port}:{n}", status, f"{storms}/{restored}", "0/0", "0/0"))
    return grid((*head, "TX LAST OK/DROP", "RX LAST OK/DROP"), [(*row, "0/0", "0/0") for row in rows], ">")


def queues(state: State) -> str:
    """`show queue counters --json`."""
    return _json(
        state,
        lambda port, n: {
            "dropbytes": NOTHING,
            "droppacket": _number(count(state, port, n, "dropped")),
            "totalbytes": "0",
            "totalpacket": "0",
        },
    )


def marks(state: State) -> str:
    """`show queue wredcounters --json`."""
    return _json(
        state,
        lambda port, n: {
            "ecnmarkedbytes": NOTHING,
            "ecnmarkedpacket": _number(count(state, port, n, "marked")),
            "wreddropbytes": "0",
            "wreddroppacket": "0",
        },
    )


def watermarks(state: State) -> str:
    """`show queue watermark unicast --json`: the highest fill since a person cleared it."""
    ports = {port: {f"UC{n}": str(count(state, port, n, "peak")) for n in PRIORITIES} for port in state["ports"]}
    return json.dumps(ports, indent=4)


def lldp(state: State) -> str:
    """`show lldp table`."""
    head = ("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")
    cables = sorted(state["neighbors"].items())
    rows = [(port, device, there, "BR", there) for port, (device, there) in cables]
    lines = ["Capability codes: (R) Router, (B) Bridge, (O) Other", grid(head, rows), "-" * 50]
    return "\n".join([*lines, f"Total entries displayed:  {len(rows)}"])


def _json(state: State, entry: Callable[[str, int], dict[str, str]]) -> str:
    ports: dict[str, Any] = {}
    for port in state["ports"]:
        counted = {f"UC{n}": entry(port, n) for n in PRIORITIES}
        others = {f"ALL{n}": dict.fromkeys(entry(port, 0), NOTHING) for n in CAST if n not in PRIORITIES}
        ports[port] = {**others, "time": "2026-11-25T09:00:00.000000", **counted}
    return json.dumps(ports, indent=2)


def _number(value: int) -> str:
    return f"{value:,}"


COUNTERS: dict[str, Callable[[State], str]] = {
    "lldp table": lldp,
    "pfc counters": pfc,
    "pfcwd stats": watchdog,
    "queue counters --json": queues,
    "queue watermark unicast --json": watermarks,
    "queue wredcounters --json": marks,
}
